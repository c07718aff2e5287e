// The Verilated machine behind the protocol of a host.

#ifndef SEALANE_BENCH_MACHINE_H
#define SEALANE_BENCH_MACHINE_H

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

class Vgarbler;
class VerilatedContext;

// The four blocks of a session, each as 32-bit words from the lowest on.
using Seeds = std::array<std::array<uint32_t, 4>, 4>;

// The counters of a session.
struct Counts {
    bool loaded = false;
    uint32_t fault = 0;
    uint32_t first_garbling = 0;
    uint32_t garbling = 0;
    uint64_t total = 0;
    uint64_t held = 0;
    uint64_t setup = 0;
    std::array<uint64_t, 3> records{};
    // Words of the memories of labels that are not zero behind the session.
    uint64_t secret_words_left = 0;
};

// Reads the lines of a file, without line ends; false if it cannot be read.
bool read_lines(const std::string &path, std::vector<std::string> &lines);

class RtlMachine {
  public:
    // `random` is the seed of all values before reset; the host refuses records in `stall` of 1000
    // cycles.
    RtlMachine(unsigned random, unsigned stall);
    ~RtlMachine();

    void reset();

    // Sends the words of an HSCD file, narrow or wide; false if a line is no such word.
    bool load(const std::vector<std::string> &lines);

    // Runs a session to its end, and writes its records to `stream` if there is one.
    Counts session(const Seeds &seeds, uint32_t netlist_cycles, uint64_t limit, std::FILE *stream);

  private:
    // One cycle; takes a record if there is one and the host is ready.
    void cycle(std::FILE *stream, Counts &counts);

    std::unique_ptr<VerilatedContext> context;
    std::unique_ptr<Vgarbler> top;
    unsigned stall;
    uint64_t random_state;
};

#endif
