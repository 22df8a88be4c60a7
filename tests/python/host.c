/* Calls an FMU of FMI 2.0 or 3.0 in Co-Simulation with C's own library alone, for importers.py:

       host VERSION LIBRARY TOKEN RESOURCES STEP COUNT REFERENCE...

   prints the values of these references after COUNT steps of STEP seconds. RESOURCES is a URI in FMI 2.0 and a path in
   FMI 3.0, with a slash at its end. The headers are FMI's own, as FMPy brings them. */
#include "fmi2FunctionTypes.h"
#include "fmi3FunctionTypes.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL(call) if ((call) != 0) fprintf(stderr, "%s\n", #call), exit(1) /* fmi2OK and fmi3OK */
#define FUNCTION(name) name##TYPE *name; if (!(*(void **)&name = dlsym(library, #name))) fprintf(stderr, "%s\n", #name), exit(1)

enum { MOST = 100000 };
static unsigned references[MOST];
static double values[MOST];

static void log_2(fmi2ComponentEnvironment e, fmi2String name, fmi2Status s, fmi2String category, fmi2String text, ...) {
    (void)e, (void)s;
    fprintf(stderr, "%s, %s: %s\n", name, category, text);
}

static void log_3(fmi3InstanceEnvironment e, fmi3Status s, fmi3String category, fmi3String text) {
    (void)e, (void)s;
    fprintf(stderr, "%s: %s\n", category, text);
}

static void run_2(void *library, const char *token, const char *resources, double h, int count, size_t n) {
    FUNCTION(fmi2Instantiate); FUNCTION(fmi2SetupExperiment); FUNCTION(fmi2EnterInitializationMode);
    FUNCTION(fmi2ExitInitializationMode); FUNCTION(fmi2GetReal); FUNCTION(fmi2DoStep); FUNCTION(fmi2Terminate);
    FUNCTION(fmi2FreeInstance);
    const fmi2CallbackFunctions callbacks = {log_2, calloc, free, NULL, NULL};
    fmi2Component it = fmi2Instantiate("it", fmi2CoSimulation, token, resources, &callbacks, 0, 0);
    if (!it) exit(1);
    CALL(fmi2SetupExperiment(it, fmi2False, 0.0, 0.0, fmi2False, 0.0));
    CALL(fmi2EnterInitializationMode(it));
    CALL(fmi2ExitInitializationMode(it));
    for (int k = 0; k < count; k++) CALL(fmi2DoStep(it, k * h, h, fmi2True));
    CALL(fmi2GetReal(it, references, n, values));
    CALL(fmi2Terminate(it));
    fmi2FreeInstance(it);
}

static void run_3(void *library, const char *token, const char *resources, double h, int count, size_t n) {
    FUNCTION(fmi3InstantiateCoSimulation); FUNCTION(fmi3EnterInitializationMode); FUNCTION(fmi3ExitInitializationMode);
    FUNCTION(fmi3GetFloat64); FUNCTION(fmi3DoStep); FUNCTION(fmi3Terminate); FUNCTION(fmi3FreeInstance);
    fmi3Instance it = fmi3InstantiateCoSimulation("it", token, resources, fmi3False, fmi3False, fmi3False, fmi3False, NULL, 0,
                                                  NULL, log_3, NULL);
    if (!it) exit(1);
    CALL(fmi3EnterInitializationMode(it, fmi3False, 0.0, 0.0, fmi3False, 0.0));
    CALL(fmi3ExitInitializationMode(it));
    for (int k = 0; k < count; k++) {
        fmi3Boolean event, ends, early;
        fmi3Float64 reached;
        CALL(fmi3DoStep(it, k * h, h, fmi3True, &event, &ends, &early, &reached));
        if (event || ends || early) fprintf(stderr, "the step ended otherwise\n"), exit(1);
    }
    CALL(fmi3GetFloat64(it, references, n, values, n));
    CALL(fmi3Terminate(it));
    fmi3FreeInstance(it);
}

int main(int count, char **arguments) {
    const int first = 7;
    if (count < first || count - first > MOST) return fprintf(stderr, "the arguments are in host.c\n"), 1;
    void *library = dlopen(arguments[2], RTLD_NOW);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
    const size_t n = count - first;
    for (size_t i = 0; i < n; i++) references[i] = strtoul(arguments[first + i], NULL, 10);
    void (*run)(void *, const char *, const char *, double, int, size_t) = strcmp(arguments[1], "3") ? run_2 : run_3;
    run(library, arguments[3], arguments[4], strtod(arguments[5], NULL), atoi(arguments[6]), n);
    for (size_t i = 0; i < n; i++) printf("%a\n", values[i]);
    return dlclose(library);
}
