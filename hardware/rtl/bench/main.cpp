// The bench: loads a netlist into the Verilated machine, runs sessions, and writes what comes out.
//
//     bench NETLIST.hscd --cycles N --seeds A,B,C,D [--seeds ...] [options]
//
// Seeds are four blocks in hexadecimal digits, as numbers whose byte 0 is the lowest: hash key,
// offset, key of labels, start of labels. Each `--seeds` is a session of its own on one machine.
// With `--seeds -` they are lines of standard input: arguments of a process are no secret.
//
//     --stream FILE   writes every record: tag, netlist cycle and index as 32-bit numbers, 4 bytes
//                     of zeros, 32 bytes of data; all little-endian. `-` is standard output
//     --stall N       the host takes nothing in N of 1000 cycles, at random
//     --limit N       most ANDs under a key
//     --random N      seed of the values that registers and memories have before reset
//
// A line of JSON for each session goes to standard output, or to standard error with `--stream -`. It
// says as well which machine this is: HASH, QUEUE, XOR_UNITS and ENGINES of the build.

#include "machine.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

[[noreturn]] void usage(const std::string &what) {
    std::fprintf(stderr, "bench: %s\nusage: bench NETLIST.hscd --cycles N --seeds A,B,C,D "
                         "[--stream FILE] [--stall N] [--limit N] [--random N]\n",
                 what.c_str());
    std::exit(2);
}

uint64_t number(const char *text) {
    char *end = nullptr;
    const uint64_t value = std::strtoull(text, &end, 10);
    if (*text == 0 || *end != 0) usage(std::string("no number: ") + text);
    return value;
}

// Four blocks, comma between them.
Seeds seeds_of(const char *text) {
    Seeds seeds{};
    for (auto &block : seeds) {
        const size_t digits = std::strspn(text, "0123456789abcdefABCDEF");
        if (digits != 32 || (text[32] != 0) == (&block == &seeds.back()))
            usage("seeds are four blocks of 32 hexadecimal digits with commas between them");
        for (int word = 0; word < 4; word++) {
            const std::string eight(text + 24 - 8 * word, 8);
            block[word] = static_cast<uint32_t>(std::strtoul(eight.c_str(), nullptr, 16));
        }
        text += 33;
    }
    return seeds;
}

// The seeds on the lines of standard input.
void read_seeds(std::vector<Seeds> &sessions) {
    char line[256];
    while (std::fgets(line, sizeof line, stdin) != nullptr) {
        line[std::strcspn(line, "\r\n")] = 0;
        sessions.push_back(seeds_of(line));
    }
}

struct Options {
    std::string netlist;
    std::string stream;
    uint32_t netlist_cycles = 1;
    uint64_t limit = UINT64_MAX;
    unsigned stall = 0;
    unsigned random = 1;
    std::vector<Seeds> sessions;
};

Options options_of(int argc, char **argv) {
    Options options;
    for (int i = 1; i < argc; i++) {
        const std::string name = argv[i];
        if (name.rfind("--", 0) != 0) {
            options.netlist = name;
            continue;
        }
        if (++i == argc) usage(name + " has no value");
        const char *value = argv[i];
        if (name == "--stream") options.stream = value;
        else if (name == "--cycles") options.netlist_cycles = static_cast<uint32_t>(number(value));
        else if (name == "--limit") options.limit = number(value);
        else if (name == "--stall") options.stall = static_cast<unsigned>(number(value));
        else if (name == "--random") options.random = static_cast<unsigned>(number(value));
        else if (name == "--seeds" && std::strcmp(value, "-") == 0) read_seeds(options.sessions);
        else if (name == "--seeds") options.sessions.push_back(seeds_of(value));
        else usage("unknown option " + name);
    }
    if (options.netlist.empty() || options.sessions.empty()) usage("no netlist, or no seeds");
    return options;
}

void report(std::FILE *out, const Counts &counts) {
    std::fprintf(out,
                 "{\"loaded\": %s, \"fault\": %u, \"first_garbling_cycles\": %u, "
                 "\"garbling_cycles\": %u, \"total_cycles\": %llu, \"held_cycles\": %llu, "
                 "\"setup_cycles\": %llu, \"labels\": %llu, \"tables\": %llu, \"masks\": %llu, "
                 "\"secret_words_left\": %llu, \"machine\": {\"hash\": %d, \"queue\": %d, "
                 "\"xor_units\": %d, \"engines\": %d}}\n",
                 counts.loaded ? "true" : "false", counts.fault, counts.first_garbling,
                 counts.garbling, static_cast<unsigned long long>(counts.total),
                 static_cast<unsigned long long>(counts.held),
                 static_cast<unsigned long long>(counts.setup),
                 static_cast<unsigned long long>(counts.records[0]),
                 static_cast<unsigned long long>(counts.records[1]),
                 static_cast<unsigned long long>(counts.records[2]),
                 static_cast<unsigned long long>(counts.secret_words_left), HASH, QUEUE, XOR_UNITS,
                 ENGINES);
}

}  // namespace

int main(int argc, char **argv) {
    const Options options = options_of(argc, argv);
    std::vector<std::string> lines;
    if (!read_lines(options.netlist, lines)) usage("cannot read " + options.netlist);
    std::FILE *stream = nullptr;
    if (options.stream == "-") stream = stdout;
    else if (!options.stream.empty()) {
        stream = std::fopen(options.stream.c_str(), "wb");
        if (stream == nullptr) usage("cannot write " + options.stream);
    }
    std::FILE *log = stream == stdout ? stderr : stdout;

    RtlMachine machine(options.random, options.stall);
    machine.reset();
    const bool words = machine.load(lines);
    if (!words) usage(options.netlist + " holds a line that is no word of HSCD");
    for (const Seeds &seeds : options.sessions)
        report(log, machine.session(seeds, options.netlist_cycles, options.limit, stream));
    if (stream != nullptr && std::fflush(stream) != 0) usage("cannot write the stream");
    return 0;
}
