/* Runs an FMU in steps of equal length: sets inputs before each step, if there are any, and reads values after it. Returns
   the processor time of the thread, s, or -1 on failure. */
#include "fmi2FunctionTypes.h"
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

double run(fmi2Component fmu, fmi2DoStepTYPE *do_step, fmi2GetRealTYPE *get_real, fmi2SetRealTYPE *set_real, double step, int steps,
           const fmi2ValueReference *inputs, size_t n_inputs, const double *held, const fmi2ValueReference *values, size_t n,
           double *rows) {
    const double start = now();
    for (int k = 0; k < steps; k++) {
        if (n_inputs > 0 && set_real(fmu, inputs, n_inputs, held + n_inputs * k) != fmi2OK) return -1.0;
        if (do_step(fmu, k * step, step, fmi2True) != fmi2OK || get_real(fmu, values, n, rows + n * k) != fmi2OK) return -1.0;
    }
    return now() - start;
}
