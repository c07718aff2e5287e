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

Machine::Machine(unsigned random, unsigned stall)
    : context(new VerilatedContext), stall(stall), random_state(88172645463325252u + random) {
    context->randReset(2);
    context->randSeed(static_cast<int>(random));
    top.reset(new Vgarbler(context.get()));
}

Machine::~Machine() { top->final(); }

void Machine::cycle(std::FILE *stream, Counts &counts) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    top->out_ready = random_state % 1000 >= stall;
    top->clock = 0;
    top->eval();
    if (top->out_valid && top->out_ready && !top->reset) {
        counts.records.at(top->out_tag)++;
        if (stream != nullptr) {
            uint32_t record[12] = {top->out_tag, top->out_turn, top->out_index, 0};
            for (int i = 0; i < 8; i++) record[4 + i] = top->out_data[i];
            std::fwrite(record, sizeof record, 1, stream);
        }
    }
    top->clock = 1;
    top->eval();
}

void Machine::reset() {
    Counts none;
    top->load_restart = 0;
    top->load_valid = 0;
    top->start = 0;
    top->noise_valid = 0;
    top->reset = 1;
    for (int i = 0; i < 2; i++) cycle(nullptr, none);
    top->reset = 0;
}

bool Machine::load(const std::vector<std::string> &lines) {
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
    return true;
}

Counts Machine::session(const Seeds &seeds, uint32_t turns, uint64_t limit, std::FILE *stream) {
    Counts counts;
    top->start_turns = turns;
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
    counts.garbling = turns > 1 ? top->later_garbling : top->first_garbling;
    counts.total = top->total_cycles;
    counts.held = top->held_cycles;
    counts.setup = top->setup_cycles;
    const Vgarbler___024root *inside = top->rootp;
    // The memories of labels, by the names that Verilator gives them.
#ifdef BANKED
#define LABELS(n) inside->garbler__DOT__bundles__DOT__core__DOT__banks__DOT__ports__BRA__##n##__KET____DOT__labels__DOT__words
#define INPUTS(n) inside->garbler__DOT__inputs__DOT__copies__BRA__##n##__KET____DOT__labels__DOT__words
    counts.secret_words_left = nonzero(LABELS(0)) + nonzero(LABELS(1)) + nonzero(LABELS(2))
        + nonzero(LABELS(3)) + nonzero(LABELS(4)) + nonzero(LABELS(5)) + nonzero(LABELS(6))
        + nonzero(LABELS(7)) + nonzero(LABELS(8)) + nonzero(LABELS(9)) + nonzero(LABELS(10))
        + nonzero(LABELS(11)) + nonzero(LABELS(12)) + nonzero(LABELS(13)) + nonzero(LABELS(14))
        + nonzero(LABELS(15)) + nonzero(INPUTS(0)) + nonzero(INPUTS(1)) + nonzero(INPUTS(2))
        + nonzero(INPUTS(3)) + nonzero(INPUTS(4)) + nonzero(INPUTS(5)) + nonzero(INPUTS(6))
        + nonzero(INPUTS(7));
#else
#define INPUTS(n) inside->garbler__DOT__inputs__DOT__copies__BRA__##n##__KET____DOT__labels__DOT__words
    counts.secret_words_left = nonzero(inside->garbler__DOT__fase__DOT__labels__DOT__labels__DOT__words)
        + nonzero(INPUTS(0)) + nonzero(INPUTS(1));
#endif
    return counts;
}
