#include "machine.h"

#include "Vgarbler.h"
#include "Vgarbler___024root.h"
#include "verilated.h"

#include <cstdlib>
#include <cstring>
#include <fstream>

namespace {

// Cycles without a record and without the end, after which a session is given up: far more than
// any netlist that the machine holds takes between two records.
constexpr uint64_t PATIENCE = 1u << 20;

// A word of 24 digits, or of 8 with one zero more in front, as three 32-bit words.
bool word_of(const std::string &line, bool &narrow, uint32_t word[3]) {
    std::string digits = line;
    if (digits.size() == 9 || digits.size() == 25) {
        if (digits[0] != '0') return false;
        digits.erase(0, 1);
    }
    narrow = digits.size() == 8;
    if ((!narrow && digits.size() != 24)
        || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
        return false;
    for (size_t i = 0; i < 3; i++) {
        const bool there = 8 * i < digits.size();
        const std::string eight = there ? digits.substr(digits.size() - 8 * i - 8, 8) : "0";
        word[i] = static_cast<uint32_t>(std::strtoul(eight.c_str(), nullptr, 16));
    }
    return true;
}

// The records of a cycle: one for each engine.
constexpr unsigned LANES = ENGINES;
static_assert(LANES <= 2, "ports of three lanes have another type");

// A word of a port of up to two.
uint32_t word_at(uint64_t words, unsigned lane) { return static_cast<uint32_t>(words >> 32 * lane); }

template <typename Words> uint64_t nonzero(const Words &words) {
    uint64_t count = 0;
    for (size_t i = 0; i < sizeof(words.m_storage) / sizeof(words.m_storage[0]); i++) {
        bool some = false;
        for (size_t k = 0; k < 4; k++) some = some || words[i][k] != 0;
        count += some;
    }
    return count;
}

}  // namespace

bool read_lines(const std::string &path, std::vector<std::string> &lines) {
    std::ifstream in(path);
    std::string line;
    while (std::getline(in, line)) {
        const size_t end = line.find_last_not_of(" \t\r");
        line.erase(end == std::string::npos ? 0 : end + 1);
        if (!line.empty()) lines.push_back(line);
    }
    return in.eof();
}

RtlMachine::RtlMachine(unsigned random, unsigned stall)
    : context(new VerilatedContext), stall(stall), random_state(88172645463325252u + random) {
    context->randReset(2);
    context->randSeed(static_cast<int>(random));
    top.reset(new Vgarbler(context.get()));
}

RtlMachine::~RtlMachine() { top->final(); }

void RtlMachine::cycle(std::FILE *stream, Counts &counts) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    top->out_ready = random_state % 1000 >= stall;
    top->clock = 0;
    top->eval();
    for (unsigned lane = 0; lane < LANES && top->out_ready && !top->reset; lane++) {
        if ((top->out_valid >> lane & 1) == 0) continue;
        const uint32_t tag = top->out_tag >> 2 * lane & 3;
        counts.records.at(tag)++;
        if (stream != nullptr) {
            uint32_t record[12] = {tag, word_at(top->out_netlist_cycle, lane), word_at(top->out_index, lane), 0};
            for (unsigned i = 0; i < 8; i++) record[4 + i] = top->out_data[8 * lane + i];
            std::fwrite(record, sizeof record, 1, stream);
        }
    }
    top->clock = 1;
    top->eval();
}

void RtlMachine::reset() {
    Counts none;
    top->load_restart = 0;
    top->load_valid = 0;
    top->start = 0;
    top->noise_valid = 0;
    top->reset = 1;
    for (int i = 0; i < 2; i++) cycle(nullptr, none);
    top->reset = 0;
}

bool RtlMachine::load(const std::vector<std::string> &lines) {
    Counts none;
    top->load_restart = 1;
    cycle(nullptr, none);
    top->load_restart = 0;
    top->load_valid = 1;
    for (const std::string &line : lines) {
        bool narrow = false;
        uint32_t word[3];
        if (!word_of(line, narrow, word)) return false;
        top->load_narrow = narrow;
        for (int i = 0; i < 3; i++) top->load_word[i] = word[i];
        cycle(nullptr, none);
    }
    top->load_valid = 0;
    // The last checks of the better engines come behind the last word.
    for (int i = 0; i < 4; i++) cycle(nullptr, none);
    return true;
}

Counts RtlMachine::session(const Seeds &seeds, uint32_t netlist_cycles, uint64_t limit, std::FILE *stream) {
    Counts counts;
    top->start_cycles = netlist_cycles;
    top->start_limit = limit;
    top->start = 1;
    cycle(stream, counts);
    top->start = 0;
    for (const auto &block : seeds) {
        top->noise_valid = 1;
        for (int i = 0; i < 4; i++) top->noise[i] = block[i];
        cycle(stream, counts);
    }
    top->noise_valid = 0;
    uint64_t before = 0;
    for (uint64_t waited = 0; top->busy; waited++) {
        cycle(stream, counts);
        const uint64_t all = counts.records[0] + counts.records[1] + counts.records[2];
        if (all != before) waited = 0;
        before = all;
        if (waited == PATIENCE) {
            std::fprintf(stderr, "bench: the machine hangs\n");
            std::exit(3);
        }
    }
    counts.loaded = top->loaded;
    counts.fault = top->fault;
    counts.first_garbling = top->first_garbling;
    counts.garbling = netlist_cycles > 1 ? top->later_garbling : top->first_garbling;
    counts.total = top->total_cycles;
    counts.held = top->held_cycles;
    counts.setup = top->setup_cycles;
    const Vgarbler___024root *inside = top->rootp;
    // The memories of labels, by the names that Verilator gives them.
#define INPUTS(n) inside->garbler__DOT__inputs__DOT__copies__BRA__##n##__KET____DOT__labels__DOT__words
#if XOR_UNITS > 0
#define LABELS(n) inside->garbler__DOT__bundles__DOT__core__DOT__banks__DOT__ports__BRA__##n##__KET____DOT__labels__DOT__words
#define FOUR(of, a, b, c, d) (nonzero(of(a)) + nonzero(of(b)) + nonzero(of(c)) + nonzero(of(d)))
    counts.secret_words_left = FOUR(LABELS, 0, 1, 2, 3) + FOUR(LABELS, 4, 5, 6, 7)
        + FOUR(LABELS, 8, 9, 10, 11) + FOUR(LABELS, 12, 13, 14, 15) + FOUR(INPUTS, 0, 1, 2, 3)
        + FOUR(INPUTS, 4, 5, 6, 7);
#if ENGINES == 2
    counts.secret_words_left += FOUR(LABELS, 16, 17, 18, 19) + FOUR(LABELS, 20, 21, 22, 23)
        + FOUR(LABELS, 24, 25, 26, 27) + FOUR(LABELS, 28, 29, 30, 31)
        + FOUR(INPUTS, 8, 9, 10, 11) + FOUR(INPUTS, 12, 13, 14, 15);
#endif
#else
    counts.secret_words_left = nonzero(inside->garbler__DOT__fase__DOT__labels__DOT__labels__DOT__words)
        + nonzero(INPUTS(0)) + nonzero(INPUTS(1));
#endif
    return counts;
}
