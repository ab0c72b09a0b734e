// Runs one kernel, once, in a process of its own: threads of a group as fibers, every load and store checked.
//
// The kernel is compiled with the instrumentation of -fsanitize=thread,bounds, but not with its library: what the compiler
// calls before each load and store is defined here. The process may do nothing but end from before its first constructor
// on (seccomp), sees no file, and has no memory but its buffers and what is set aside for it.
#include "layout.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

namespace metal_course {

// ---- what Python writes into the shared memory, and reads back: module `launch` has the same layout --------------------
constexpr u32 most_storages = 64, most_shared = 64, most_frames = 24;
struct Storage { u64 file_offset, n_bytes; u32 granule, is_written, checks_races, reserved; };
struct View { u64 offset, n_bytes; u32 storage, scalar_bytes; };
enum Fault : u32 {
  no_fault, outside, outside_everything, race, shared_unwritten, array_index, division, barrier_missed, barriers_differ,
  lane_absent, too_much_shared, stack_overflow, crashed, time_over, deadlock, bad_value_size
};
struct Report {
  u32 fault, n_frames;
  u64 frames[most_frames];
  u32 grid[3], local[3], group[3], index;
  u32 is_write, was_write, is_atomic, was_atomic, other_group, is_shared, place, scalar_bytes;
  i64 element, length, other;  // other: the other thread's index in its group, -1 for several
  u64 a, b;
  char text[64];
};
struct Launch {
  u32 kernel, n_storages, n_views, n_arguments;
  u32 threads[3], group[3];
  u64 gap_bytes, cpu_us;
  Storage storages[most_storages];
  View views[most_storages];  // view i is argument i
  Report report;
};

// ---- state -----------------------------------------------------------------------------------------------------------
// what is known of the last accesses of some bytes
struct Cell {
  u32 write_epoch, read_epoch;
  u16 writer, reader, write_sync, read_sync;
  u8 write_bytes, read_bytes, read_elsewhere, write_use;
};
constexpr u16 several = 0xFFFF;
enum Use : u8 { plain = 0, by_atomic = 1, by_atomic_store = 2 };
struct Region { u8* first; u64 n_bytes; u32 scalar_bytes, granule; Cell* cells; u8* cells_first; u32 is_shared, place; char name[64]; };
enum State { fresh, running, at_barrier, at_simd, done };
constexpr u32 most_threads = 1024, most_path = 12;
constexpr u64 stack_bytes = 128 << 10, guard_bytes = 4096;
struct Fiber { jmp_buf state; u8* stack; int thread; bool started; };
struct Thread { State state; int fiber; u32 flags, mask, parity, n_path; u64 path[most_path]; };

Position* current;
static Position positions[most_threads];
static Fiber fibers[most_threads];
static Thread threads[most_threads];
static jmp_buf scheduler;
static Launch* launch;
static Region regions[most_storages + most_shared];
static u32 n_regions, n_shared;
static u64 shared_bytes;
static Cell shared_cells[32768 + most_shared];
static u32 shared_cells_used;
static int n_fibers, running_fiber, n_threads, next_thread;
static u8 *stacks, *stack_now;
static u32 shared_epoch = 1, device_epoch = 1, shared_group_start = 1, device_group_start = 1, simd_epoch[32];
static u16 simd_sync[32];
static u8 slots[32][2][32 * slot_bytes];
static void* arguments[most_storages];
static const Kernel* kernel;
static bool fenced;
static struct { bool is_set; const u8* address; u32 n_bytes; u8 before[16]; Report report; } suspected;
extern "C" char __executable_start, _end;

// ---- reports ---------------------------------------------------------------------------------------------------------
[[noreturn]] static void leave(int code) {
  for (;;) syscall(SYS_exit_group, code);
}

static bool on_stacks(u64 address) { return address >= (u64)stacks && address < (u64)stacks + (stack_bytes + guard_bytes) * most_threads; }

// the calls that led to a frame, innermost first: return addresses along the frame pointers
static u32 walk(u64 frame, u64* found, u32 most) {
  u32 n = 0;
  while (n < most && on_stacks(frame) && on_stacks(frame + 16) && frame % 8 == 0) {
    const u64* pair = (const u64*)frame;
    if (pair[1]) found[n++] = pair[1];
    if (pair[0] <= frame) break;
    frame = pair[0];
  }
  return n;
}

static void describe(Report& r, Fault fault, u64 frame) {
  memset(&r, 0, sizeof r);
  r.fault = fault;
  r.n_frames = walk(frame, r.frames, most_frames);
  r.other = -2;
  if (!current) return;
  memcpy(r.grid, current->thread_in_grid, sizeof r.grid);
  memcpy(r.local, current->thread_in_group, sizeof r.local);
  memcpy(r.group, current->group_in_grid, sizeof r.group);
  r.index = current->index;
}
[[noreturn]] static void publish(const Report& r) {
  launch->report = r;
  leave(1);
}
#define HERE ((u64)__builtin_frame_address(0))

// ---- checks of loads and stores --------------------------------------------------------------------------------------
// Two threads that change the same place to the same value do no harm; whether they did shows when the store is done.
static void settle() {
  if (!suspected.is_set) return;
  suspected.is_set = false;
  if (memcmp(suspected.address, suspected.before, suspected.n_bytes)) publish(suspected.report);
}

static const Region* find(const u8* p) {
  static u32 last;
  if (last < n_regions && p >= regions[last].first && p < regions[last].first + regions[last].n_bytes) return &regions[last];
  for (u32 i = 0; i < n_regions; i++)
    if (p >= regions[i].first && p < regions[i].first + regions[i].n_bytes) return last = i, &regions[i];
  return nullptr;
}

[[noreturn]] static void report_outside(const u8* p, u32 n, bool write, u64 frame) {
  Report r;
  i64 best = (i64)1 << 62;
  const Region* nearest = nullptr;
  for (u32 i = 0; i < n_regions; i++) {
    const Region& g = regions[i];
    i64 off = p - g.first;
    i64 distance = off < 0 ? -off : off >= (i64)g.n_bytes ? off - (i64)g.n_bytes + 1 : 0;
    // an unsigned index that went below zero lands 2**32 elements further
    i64 wrapped = ((i64)1 << 32) * g.scalar_bytes - off;
    if (!g.is_shared && wrapped > 0 && wrapped < 65536) distance = wrapped;
    if (distance < best) best = distance, nearest = &g;
  }
  bool near = nearest && best < ((i64)1 << 37);
  describe(r, near ? outside : outside_everything, frame);
  r.is_write = write;
  r.a = n;
  r.b = (u64)p;
  if (near) {
    i64 off = p - nearest->first, size = nearest->scalar_bytes;
    r.element = off >= 0 ? off / size : -((-off + size - 1) / size);
    r.length = nearest->n_bytes / size;
    r.scalar_bytes = size;
    r.is_shared = nearest->is_shared;
    r.place = nearest->place;
    memcpy(r.text, nearest->name, sizeof r.text);
  }
  publish(r);
}

struct Before { u32 epoch; u16 thread, sync; u8 bytes; Use use; };
// whether an earlier access has no order with one of the running thread: 0, 1 inside the group, 2 in another group
static int unordered(const Region& region, const Before& was, u8 bytes, Use use) {
  if (!was.epoch || !(was.bytes & bytes)) return 0;
  u32 start = region.is_shared ? shared_group_start : device_group_start;
  u32 now = region.is_shared ? shared_epoch : device_epoch;
  bool both_atomic = was.use && use;
  if (was.epoch < start) return region.is_shared || both_atomic || fenced ? 0 : 2;
  if (was.epoch != now || was.thread == current->index) return 0;
  // threadgroup memory that is set and then counted in needs a barrier in between, although both are atomic
  if (both_atomic && !(region.is_shared && was.use == by_atomic_store && use == by_atomic)) return 0;
  bool same_simd = was.thread != several && was.thread / 32 == current->simdgroup;
  return same_simd && was.sync != simd_sync[current->simdgroup] ? 0 : 1;
}

static void report_race(const Region& region, u64 cell, const Before& was, bool was_write, bool write, Use use, int kind,
                        const u8* p, u32 n, u64 frame) {
  Report r;
  describe(r, race, frame);
  r.is_write = write; r.was_write = was_write; r.is_atomic = use != plain; r.was_atomic = was.use != plain;
  r.other_group = kind == 2; r.is_shared = region.is_shared; r.place = region.place; r.scalar_bytes = region.scalar_bytes;
  r.element = (p - region.first) / region.scalar_bytes;
  r.other = was.thread == several ? -1 : was.thread;
  memcpy(r.text, region.name, sizeof r.text);
  (void)cell;
  if (!write || use != plain || n > sizeof suspected.before) publish(r);
  if (suspected.is_set) return;
  suspected.is_set = true;
  suspected.address = p;
  suspected.n_bytes = n;
  memcpy(suspected.before, p, n);
  suspected.report = r;
}

static void check(const u8* p, u32 n, bool write, Use use, u64 frame) {
  if ((u64)(p - stack_now) < stack_bytes || !current) return;
  settle();
  const Region* found = find(p);
  if (!found || p + n > found->first + found->n_bytes) {
    bool in_program = p >= (u8*)&__executable_start && p + n <= (u8*)&_end;
    if (!found && in_program && !write) return;  // a table of constants
    report_outside(p, n, write, frame);
  }
  const Region& region = *found;
  if (!region.cells) return;
  u16 me = current->index, sync = simd_sync[current->simdgroup];
  u32 now = region.is_shared ? shared_epoch : device_epoch;
  u32 start = region.is_shared ? shared_group_start : device_group_start;
  u64 offset = p - region.cells_first, g = region.granule;
  for (u64 c = offset / g; c <= (offset + n - 1) / g; c++) {
    Cell& cell = region.cells[c];
    u64 low = offset > c * g ? offset - c * g : 0, high = offset + n < c * g + g ? offset + n - c * g : g;
    u8 bytes = u8(((1u << high) - 1) & ~((1u << low) - 1));
    if (region.is_shared && (!write || use == by_atomic) && cell.write_epoch < start) {
      Report r;
      describe(r, shared_unwritten, frame);
      r.is_shared = 1; r.element = (p - region.first) / region.scalar_bytes; r.length = region.n_bytes / region.scalar_bytes;
      memcpy(r.text, region.name, sizeof r.text);
      publish(r);
    }
    Before writer = {cell.write_epoch, cell.writer, cell.write_sync, cell.write_bytes, (Use)cell.write_use};
    int kind = unordered(region, writer, bytes, use);
    if (kind) report_race(region, c, writer, true, write, use, kind, p, n, frame);
    if (write && !kind) {
      Before reader = {cell.read_epoch, cell.reader, cell.read_sync, cell.read_bytes, plain};
      kind = unordered(region, reader, bytes, use);
      if (!kind && cell.read_elsewhere && !region.is_shared && !fenced) kind = 2;
      if (kind) report_race(region, c, reader, false, write, use, kind, p, n, frame);
    }
    if (write) {
      // what was set stays set until the next barrier, also for the thread that set it
      if (use == by_atomic && cell.write_epoch == now && cell.writer == me && cell.write_use == by_atomic_store) continue;
      cell.write_bytes = cell.write_epoch == now && cell.writer == me ? u8(cell.write_bytes | bytes) : bytes;
      cell.write_epoch = now; cell.writer = me; cell.write_sync = sync; cell.write_use = use;
    } else if (use == plain) {
      if (cell.read_epoch && cell.read_epoch < start) cell.read_elsewhere = 1;
      bool again = cell.read_epoch == now;
      cell.reader = again && cell.reader != me ? several : me;
      cell.read_bytes = again ? u8(cell.read_bytes | bytes) : bytes;
      cell.read_epoch = now; cell.read_sync = sync;
    }
  }
}

void touch(const void* address, u32 n, bool write) { check((const u8*)address, n, write, plain, HERE); }
void touch_atomically(const void* address, u32 n, AtomicUse use) {
  const u8* p = (const u8*)address;
  if (use == atomic_read) check(p, n, false, by_atomic, HERE);
  else check(p, n, true, use == atomic_set ? by_atomic_store : by_atomic, HERE);
}
void order_between_groups() { fenced = true; }

void declare_shared(void* address, u64 n, u32 scalar, const char* name, u32 line) {
  for (u32 i = 0; i < n_regions; i++) if (regions[i].first == address) return;
  u32 granule = scalar > 8 ? 8 : scalar;
  if (scalar > 8 && scalar % 8) granule = scalar % 4 ? 1 : 4;
  if (scalar == 3 || scalar == 5 || scalar == 6 || scalar == 7) granule = 1;
  shared_bytes += n;
  if (shared_bytes > 32768 || n_shared == most_shared) {
    Report r;
    describe(r, too_much_shared, HERE);
    r.a = shared_bytes; r.b = line;
    strncpy(r.text, name, sizeof r.text - 1);
    publish(r);
  }
  Region& region = regions[n_regions++];
  region.first = region.cells_first = (u8*)address; region.n_bytes = n; region.scalar_bytes = scalar; region.granule = granule;
  region.cells = shared_cells + shared_cells_used; region.is_shared = 1; region.place = n_shared++;
  shared_cells_used += n / granule + 1;
  strncpy(region.name, name, sizeof region.name - 1);
}

[[noreturn]] void absent_lane(u32 lane) {
  Report r;
  describe(r, lane_absent, HERE);
  r.a = lane;
  publish(r);
}

// ---- fibers and barriers ---------------------------------------------------------------------------------------------
static void fiber_main() {
  for (;;) {
    if (next_thread < n_threads) {
      int mine = next_thread++;
      fibers[running_fiber].thread = mine;
      current = &positions[mine];
      threads[mine].state = running;
      threads[mine].fiber = running_fiber;
      kernel->run(arguments);
      settle();
      threads[fibers[running_fiber].thread].state = done;
      fibers[running_fiber].thread = -1;
      continue;
    }
    if (!_setjmp(fibers[running_fiber].state)) _longjmp(scheduler, 1);
  }
}

static void resume(int index) {
  if (_setjmp(scheduler)) return;
  running_fiber = index;
  Fiber& fiber = fibers[index];
  stack_now = fiber.stack;
  if (fiber.thread >= 0) current = &positions[fiber.thread];
  if (fiber.started) _longjmp(fiber.state, 1);
  fiber.started = true;
  u8* top = fiber.stack + stack_bytes - 256;
#if defined(__x86_64__)
  asm volatile("mov %0, %%rsp\n\txor %%ebp, %%ebp\n\tcall *%1" ::"r"(top), "r"(fiber_main) : "memory");
#elif defined(__aarch64__)
  asm volatile("mov sp, %0\n\tmov x29, xzr\n\tmov x30, xzr\n\tblr %1" ::"r"(top), "r"(fiber_main) : "memory");
#else
#error "the course runs Metal kernels on x86-64 and 64-bit ARM processors"
#endif
  __builtin_unreachable();
}

static void block(State state, u32 flags, u64 frame) {
  settle();
  Thread& mine = threads[current->index];
  u64 innermost_first[most_frames];
  u32 n = walk(frame, innermost_first, most_frames);
  mine.n_path = n < most_path ? n : most_path;
  for (u32 i = 0; i < mine.n_path; i++) mine.path[i] = innermost_first[n - 1 - i];
  mine.state = state;
  mine.flags = flags;
  if (!_setjmp(fibers[running_fiber].state)) _longjmp(scheduler, 1);
  mine.state = running;
}
// where two threads wait in the program: below 0 when `a` is behind
static int compare(const Thread& a, const Thread& b) {
  for (u32 i = 0; i < a.n_path && i < b.n_path; i++)
    if (a.path[i] != b.path[i]) return a.path[i] < b.path[i] ? -1 : 1;
  return int(a.n_path) - int(b.n_path);
}

void wait_for_group(u32 flags) { block(at_barrier, flags, HERE); }
void wait_for_simdgroup(u32 flags) { block(at_simd, flags, HERE); }
Lanes exchange(const void* value, u32 n) {
  u32 group = current->simdgroup, lane = current->lane, parity = simd_epoch[group] & 1;
  if (n > slot_bytes) {
    Report r;
    describe(r, bad_value_size, HERE);
    r.a = n;
    publish(r);
  }
  memcpy(slots[group][parity] + slot_bytes * lane, value, n);
  int me = current->index;
  block(at_simd, 0, HERE);
  return {threads[me].mask, slots[group][parity]};
}

// let the lanes of a simdgroup that wait at the same call go on, those furthest behind first
static bool advance(int first, int last) {
  bool moved = false;
  for (;;) {
    int behind = -1;
    for (int t = first; t < last; t++)
      if (threads[t].state == at_simd && (behind < 0 || compare(threads[t], threads[behind]) < 0)) behind = t;
    if (behind < 0) return moved;
    u32 mask = 0, flags = 0, group = u32(first) / 32;
    for (int t = first; t < last; t++)
      if (threads[t].state == at_simd && !compare(threads[t], threads[behind])) mask |= 1u << (t % 32), flags |= threads[t].flags;
    simd_epoch[group]++;
    if (flags & 3) simd_sync[group]++;
    for (int t = first; t < last; t++) if (mask >> (t % 32) & 1) threads[t].mask = mask;
    for (int t = first; t < last; t++) if (mask >> (t % 32) & 1) resume(threads[t].fiber);
    moved = true;
  }
}

[[noreturn]] static void report_barrier(Fault fault, int waits, int other, u32 n_waiting) {
  Report r;
  current = &positions[waits];
  describe(r, fault, 0);
  for (u32 i = 0; i < threads[waits].n_path; i++) r.frames[r.n_frames++] = threads[waits].path[threads[waits].n_path - 1 - i];
  r.other = other;
  r.a = n_waiting;
  r.b = n_threads;
  if (fault == barriers_differ) r.a = threads[other].n_path ? threads[other].path[threads[other].n_path - 1] : 0;
  publish(r);
}

static void run_group() {
  for (int t = 0; t < n_threads; t++) threads[t].state = fresh;
  next_thread = 0;
  for (int k = 0; next_thread < n_threads; resume(k)) {
    while (k < n_fibers && fibers[k].thread >= 0) k++;
    if (k == n_fibers) fibers[n_fibers++] = {{}, stacks + guard_bytes + (stack_bytes + guard_bytes) * k, -1, false};
  }
  for (;;) {
    bool moved = false;
    for (int first = 0; first < n_threads; first += 32) moved |= advance(first, first + 32 < n_threads ? first + 32 : n_threads);
    int waits = -1, elsewhere = -1, gone = -1, n_waiting = 0, n_gone = 0;
    for (int t = 0; t < n_threads; t++) {
      if (threads[t].state == done) gone = t, n_gone++;
      if (threads[t].state != at_barrier) continue;
      n_waiting++;
      if (waits < 0) waits = t;
      else if (elsewhere < 0 && compare(threads[t], threads[waits])) elsewhere = t;
    }
    if (n_gone == n_threads) return;
    if (n_waiting && n_waiting + n_gone == n_threads) {
      if (elsewhere >= 0) report_barrier(barriers_differ, waits, elsewhere, n_waiting);
      if (n_gone) report_barrier(barrier_missed, waits, gone, n_waiting);
      if (threads[waits].flags & 2) shared_epoch++;
      if (threads[waits].flags & 1) device_epoch++;
      for (int t = 0; t < n_threads; t++) resume(threads[t].fiber);
      moved = true;
    }
    if (!moved) report_barrier(deadlock, waits < 0 ? 0 : waits, -1, n_waiting);
  }
}

// ---- start: before any constructor of the kernel's program ------------------------------------------------------------
static void push_front(Report& r, u64 address) {
  memmove(r.frames + 1, r.frames, sizeof r.frames - sizeof *r.frames);
  r.frames[0] = address;
  r.n_frames = r.n_frames < most_frames ? r.n_frames + 1 : most_frames;
}

static void on_signal(int number, siginfo_t* info, void* context) {
  const ucontext_t* state = (const ucontext_t*)context;
#if defined(__x86_64__)
  u64 pc = state->uc_mcontext.gregs[REG_RIP], frame = state->uc_mcontext.gregs[REG_RBP];
#else
  u64 pc = state->uc_mcontext.pc, frame = state->uc_mcontext.regs[29];
#endif
  Report r;
  u64 address = (u64)info->si_addr;
  bool overflow = number == SIGSEGV && on_stacks(address);
  describe(r, number == SIGVTALRM ? time_over : overflow ? stack_overflow : crashed, frame);
  push_front(r, pc);
#if defined(__x86_64__)
  // the clock also strikes at the first instruction of a check, whose frame is not built yet: then the caller, a line of
  // the kernel, is on top of the stack and nowhere else
  if (number == SIGVTALRM) {
    u64 top = *(const u64*)state->uc_mcontext.gregs[REG_RSP], inner = r.frames[0];
    r.frames[0] = top;
    push_front(r, inner);
  }
#endif
  r.a = number;
  r.b = address;
  publish(r);
}

static void must(bool holds, int code) {
  if (!holds) leave(code);
}

static void shut_in() {
#if defined(__x86_64__)
  constexpr u32 machine = AUDIT_ARCH_X86_64;
#else
  constexpr u32 machine = AUDIT_ARCH_AARCH64;
#endif
  // nothing but the end of the process
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, machine, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog filter = {sizeof program / sizeof *program, program};
  must(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 41);
  must(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0), 42);
}

static void prepare(int argc, char** argv, char**) {
  must(argc == 3, 40);
  int file = 0;
  for (const char* c = argv[1]; *c; c++) file = file * 10 + (*c - '0');
  u64 file_bytes = lseek(file, 0, SEEK_END);
  launch = (Launch*)mmap(nullptr, sizeof(Launch), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  must(launch != MAP_FAILED && file_bytes >= sizeof(Launch), 43);
  must(launch->n_storages <= most_storages && launch->n_arguments <= most_storages && launch->kernel < metal_course_n_kernels, 44);
  kernel = &metal_course_kernels[launch->kernel];

  // buffers stand far apart, so that an index beyond one does not land in the next
  u64 room = launch->gap_bytes;
  for (u32 i = 0; i < launch->n_storages; i++) room += (launch->storages[i].n_bytes + 4095) / 4096 * 4096 + launch->gap_bytes;
  u8* place = (u8*)mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  must(place != MAP_FAILED, 45);
  u8* bases[most_storages];
  Cell* cells[most_storages];
  for (u32 i = 0; i < launch->n_storages; i++) {
    const Storage& s = launch->storages[i];
    place += launch->gap_bytes;
    bases[i] = place;
    cells[i] = nullptr;
    if (!s.n_bytes) continue;
    // what a kernel only reads, it cannot change
    int access = s.is_written ? PROT_READ | PROT_WRITE : PROT_READ;
    must(mmap(place, s.n_bytes, access, MAP_SHARED | MAP_FIXED, file, s.file_offset) != MAP_FAILED, 46);
    place += (s.n_bytes + 4095) / 4096 * 4096;
    if (!s.checks_races) continue;
    cells[i] = (Cell*)mmap(nullptr, (s.n_bytes / s.granule + 2) * sizeof(Cell), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    must(cells[i] != MAP_FAILED, 47);
  }
  for (u32 i = 0; i < launch->n_arguments; i++) {
    const View& view = launch->views[i];
    arguments[i] = bases[view.storage] + view.offset;
    regions[n_regions++] = {(u8*)arguments[i], view.n_bytes, view.scalar_bytes, launch->storages[view.storage].granule,
                            cells[view.storage], bases[view.storage], 0, i, {}};
  }
  u64 n = (u64)launch->group[0] * launch->group[1] * launch->group[2];
  must(n && n <= most_threads, 48);
  stacks = (u8*)mmap(nullptr, (stack_bytes + guard_bytes) * most_threads, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  must(stacks != MAP_FAILED, 49);
  for (u64 i = 0; i < n; i++) mprotect(stacks + (stack_bytes + guard_bytes) * i, guard_bytes, PROT_NONE);

  static u8 signal_stack[32768];
  stack_t other = {};
  other.ss_sp = signal_stack;
  other.ss_size = sizeof signal_stack;
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  must(!sigaltstack(&other, nullptr), 50);
  const int watched[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGVTALRM};
  for (int number : watched) must(!sigaction(number, &action, nullptr), 50);
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  itimerval limit = {{0, 0}, {(time_t)(launch->cpu_us / 1000000), (suseconds_t)(launch->cpu_us % 1000000)}};
  must(!setitimer(ITIMER_VIRTUAL, &limit, nullptr), 51);
  for (int number = 0; number < 3; number++) close(number);
  close(file);
  shut_in();
}
__attribute__((section(".preinit_array"), used)) static void (*first_of_all)(int, char**, char**) = prepare;

static void run() {
  u32 n[3], g[3];
  for (int d = 0; d < 3; d++) n[d] = (launch->threads[d] + launch->group[d] - 1) / launch->group[d];
  for (g[2] = 0; g[2] < n[2]; g[2]++)
    for (g[1] = 0; g[1] < n[1]; g[1]++)
      for (g[0] = 0; g[0] < n[0]; g[0]++) {
        u32 size[3];
        for (int d = 0; d < 3; d++) {
          u32 left = launch->threads[d] - g[d] * launch->group[d];
          size[d] = left < launch->group[d] ? left : launch->group[d];  // groups at the edge are smaller
        }
        n_threads = size[0] * size[1] * size[2];
        for (u32 t = 0; t < u32(n_threads); t++) {
          Position& p = positions[t];
          u32 local[3] = {t % size[0], t / size[0] % size[1], t / size[0] / size[1]};
          for (int d = 0; d < 3; d++) {
            p.thread_in_group[d] = local[d]; p.group_in_grid[d] = g[d];
            p.thread_in_grid[d] = g[d] * launch->group[d] + local[d];
            p.group_size[d] = size[d]; p.asked_group_size[d] = launch->group[d];
            p.grid_size[d] = launch->threads[d]; p.groups[d] = n[d];
          }
          p.index = t; p.lane = t % 32; p.simdgroup = t / 32; p.simdgroups = (n_threads + 31) / 32;
        }
        run_group();
        shared_group_start = ++shared_epoch;
        device_group_start = ++device_epoch;
      }
}

// ---- what the compiler calls before each load and store ----------------------------------------------------------------
#define HOOK(name, n, write) \
  extern "C" void name(const u8* p) { check(p, n, write, plain, HERE); }
#define HOOKS(n)                                                                                    \
  HOOK(__tsan_read##n, n, false) HOOK(__tsan_write##n, n, true)                                      \
  HOOK(__tsan_unaligned_read##n, n, false) HOOK(__tsan_unaligned_write##n, n, true)                  \
  HOOK(__tsan_volatile_read##n, n, false) HOOK(__tsan_volatile_write##n, n, true)                    \
  HOOK(__tsan_unaligned_volatile_read##n, n, false) HOOK(__tsan_unaligned_volatile_write##n, n, true) \
  extern "C" void __tsan_read_write##n(const u8* p) { check(p, n, false, plain, HERE); check(p, n, true, plain, HERE); } \
  extern "C" void __tsan_unaligned_read_write##n(const u8* p) { check(p, n, false, plain, HERE); check(p, n, true, plain, HERE); }
HOOKS(1) HOOKS(2) HOOKS(4) HOOKS(8) HOOKS(16)
extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void*) {}
extern "C" void __tsan_func_exit() {}
extern "C" void __tsan_vptr_update(void**, void*) {}
extern "C" void __tsan_vptr_read(void**) {}
extern "C" void __tsan_read_range(const u8* p, u64 n) { if (n) check(p, n, false, plain, HERE); }
extern "C" void __tsan_write_range(const u8* p, u64 n) { if (n) check(p, n, true, plain, HERE); }
extern "C" void* __tsan_memcpy(void* to, const void* from, u64 n) {
  if (n) check((const u8*)from, n, false, plain, HERE), check((const u8*)to, n, true, plain, HERE);
  return memcpy(to, from, n);
}
extern "C" void* __tsan_memmove(void* to, const void* from, u64 n) {
  if (n) check((const u8*)from, n, false, plain, HERE), check((const u8*)to, n, true, plain, HERE);
  return memmove(to, from, n);
}
extern "C" void* __tsan_memset(void* to, int value, u64 n) {
  if (n) check((const u8*)to, n, true, plain, HERE);
  return memset(to, value, n);
}

// ---- and before an index of an array, or a division, that C++ does not define -------------------------------------------
struct SourcePlace { const char* file; u32 line, column; };
struct TypeName { u16 kind, info; char name[1]; };
extern "C" void __ubsan_handle_out_of_bounds(void* data, u64 index) {
  struct Data { SourcePlace place; const TypeName *array, *index; };
  Report r;
  describe(r, array_index, HERE);
  r.element = (i64)index;
  strncpy(r.text, ((Data*)data)->array->name, sizeof r.text - 1);
  publish(r);
}
extern "C" void __ubsan_handle_divrem_overflow(void*, u64 a, u64 b) {
  Report r;
  describe(r, division, HERE);
  r.a = a;
  r.b = b;
  publish(r);
}

}  // namespace metal_course

int main() {
  metal_course::run();
  metal_course::leave(0);
}
