/* Runs an FMU's library in both interfaces and prints all results as hexadecimal numbers, so that
   runs on different platforms can be compared bit for bit.

     host LIBRARY GUID RESOURCES PLAN me|cs [STATE save|restore]

   PLAN is a text file: stop time (s), number of steps, number of states, number of indicators, the
   value references of the printed Reals. Co-Simulation saves and restores the state halfway and
   prints the second half twice; with `save` the state is also written to the file STATE, with
   `restore` only the second half is run, from that file. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdarg.h>
#include <string.h>

#ifdef _WIN32
#include <windows.h>
static void *load(const char *file) { return (void *)LoadLibraryA(file); }
static void *symbol(void *library, const char *name) { return (void *)GetProcAddress((HMODULE)library, name); }
#else
#include <dlfcn.h>
static void *load(const char *file) {
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) fprintf(stderr, "%s\n", dlerror());
    return library;
}
static void *symbol(void *library, const char *name) { return dlsym(library, name); }
#endif

typedef void *Component;
typedef unsigned int Reference;
typedef void (*Logger)(void *environment, const char *instance, int status, const char *category, const char *message, ...);
typedef struct {
    Logger logger;
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*step_finished)(void *, int);
    void *environment;
} Callbacks;
typedef struct {
    int new_discrete_states_needed, terminate, nominals_changed, values_changed, next_event_time_defined;
    double next_event_time;
} EventInfo;

/* The functions of the library that are called. */
static struct {
    Component (*Instantiate)(const char *, int, const char *, const char *, const Callbacks *, int, int);
    int (*SetupExperiment)(Component, int, double, double, int, double);
    int (*EnterInitializationMode)(Component);
    int (*ExitInitializationMode)(Component);
    int (*GetReal)(Component, const Reference *, size_t, double *);
    int (*DoStep)(Component, double, double, int);
    int (*GetFMUstate)(Component, void **);
    int (*SetFMUstate)(Component, void *);
    int (*FreeFMUstate)(Component, void **);
    int (*SerializedFMUstateSize)(Component, void *, size_t *);
    int (*SerializeFMUstate)(Component, void *, char *, size_t);
    int (*DeSerializeFMUstate)(Component, const char *, size_t, void **);
    int (*NewDiscreteStates)(Component, EventInfo *);
    int (*EnterEventMode)(Component);
    int (*EnterContinuousTimeMode)(Component);
    int (*SetTime)(Component, double);
    int (*GetContinuousStates)(Component, double *, size_t);
    int (*SetContinuousStates)(Component, const double *, size_t);
    int (*GetDerivatives)(Component, double *, size_t);
    int (*GetEventIndicators)(Component, double *, size_t);
    int (*CompletedIntegratorStep)(Component, int, int *, int *);
    int (*Terminate)(Component);
    void (*FreeInstance)(Component);
} fmi;

static double stop;
static size_t steps, states, indicators, outputs;
static Reference *references;
static double *values;
static Component component;

static void fail(const char *what) {
    fprintf(stderr, "failed: %s\n", what);
    exit(1);
}

static void check(int status, const char *what) {
    if (status > 1) fail(what);
}
#define CALL(name, ...) check(fmi.name(__VA_ARGS__), #name)

static void log_message(void *environment, const char *instance, int status, const char *category, const char *message, ...) {
    va_list arguments;
    (void)environment;
    (void)instance;
    (void)category;
    va_start(arguments, message);
    fprintf(stderr, "status %d: ", status);
    vfprintf(stderr, message, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
}

static void print(const char *what, const double *numbers, size_t count) {
    size_t i;
    printf("%s", what);
    for (i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &numbers[i], sizeof bits);
        printf(" %08lx%08lx", (unsigned long)(bits >> 32), (unsigned long)(bits & 0xffffffffu));
    }
    printf("\n");
}

static void print_outputs(const char *what) {
    CALL(GetReal, component, references, outputs, values);
    print(what, values, outputs);
}

static void read_plan(const char *file) {
    FILE *plan = fopen(file, "r");
    size_t i;
    if (!plan || fscanf(plan, "%lf %zu %zu %zu %zu", &stop, &steps, &states, &indicators, &outputs) != 5) fail("reading the plan");
    references = calloc(outputs + 1, sizeof *references);
    values = calloc(outputs + 1, sizeof *values);
    for (i = 0; i < outputs; i++)
        if (fscanf(plan, "%u", &references[i]) != 1) fail("reading the plan's references");
    fclose(plan);
}

static void run_steps(size_t from, size_t to) {
    size_t k;
    for (k = from; k < to; k++) {
        double t = stop * (double)k / (double)steps, next = stop * (double)(k + 1) / (double)steps;
        CALL(DoStep, component, t, next - t, 1);
        print_outputs("y");
    }
}

static void co_simulation(const char *file, int is_restored) {
    size_t half = steps / 2, size, i;
    void *state = NULL;
    char *bytes;
    FILE *saved;
    if (!is_restored) {
        uint64_t hash = 14695981039346656037u; /* FNV-1a */
        run_steps(0, half);
        CALL(GetFMUstate, component, &state);
        CALL(SerializedFMUstateSize, component, state, &size);
        bytes = malloc(size);
        CALL(SerializeFMUstate, component, state, bytes, size);
        CALL(FreeFMUstate, component, &state);
        for (i = 0; i < size; i++) hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211u;
        printf("state %zu %08lx%08lx\n", size, (unsigned long)(hash >> 32), (unsigned long)(hash & 0xffffffffu));
        if (file) {
            saved = fopen(file, "wb");
            if (!saved || fwrite(bytes, 1, size, saved) != size || fclose(saved)) fail("writing the state");
        }
        run_steps(half, steps);
    } else {
        saved = fopen(file, "rb");
        if (!saved || fseek(saved, 0, SEEK_END)) fail("opening the state");
        size = (size_t)ftell(saved);
        rewind(saved);
        bytes = malloc(size);
        if (fread(bytes, 1, size, saved) != size) fail("reading the state");
        fclose(saved);
    }
    CALL(DeSerializeFMUstate, component, bytes, size, &state);
    CALL(SetFMUstate, component, state);
    CALL(FreeFMUstate, component, &state);
    printf("restored\n");
    run_steps(half, steps);
    free(bytes);
}

/* Handles events at the present time; returns the time of the next one. */
static double update(void) {
    EventInfo info;
    do {
        memset(&info, 0, sizeof info);
        CALL(NewDiscreteStates, component, &info);
    } while (info.new_discrete_states_needed && !info.terminate);
    CALL(EnterContinuousTimeMode, component);
    return info.next_event_time_defined ? info.next_event_time : 1e300;
}

static void derivatives(double t, const double *x, double *dx) {
    CALL(SetTime, component, t);
    CALL(SetContinuousStates, component, x, states);
    CALL(GetDerivatives, component, dx, states);
}

/* Heun's method with fixed steps; events are handled at the end of a step. */
static void model_exchange(void) {
    double *x = calloc(states + 1, 8), *mid = calloc(states + 1, 8), *k1 = calloc(states + 1, 8), *k2 = calloc(states + 1, 8);
    double *z = calloc(indicators + 1, 8), *before = calloc(indicators + 1, 8);
    double t = 0.0, next_event = update();
    size_t k, i, inner;
    CALL(GetContinuousStates, component, x, states);
    CALL(GetEventIndicators, component, before, indicators);
    for (k = 0; k < steps; k++) {
        for (inner = 0; inner < 10; inner++) {
            double end = stop * (double)(10 * k + inner + 1) / (double)(10 * steps), h;
            int enters_event_mode = 0, terminates = 0, is_event;
            h = end - t;
            derivatives(t, x, k1);
            for (i = 0; i < states; i++) mid[i] = x[i] + h * k1[i];
            derivatives(end, mid, k2);
            for (i = 0; i < states; i++) x[i] += 0.5 * h * (k1[i] + k2[i]);
            t = end;
            CALL(SetTime, component, t);
            CALL(SetContinuousStates, component, x, states);
            CALL(CompletedIntegratorStep, component, 1, &enters_event_mode, &terminates);
            CALL(GetEventIndicators, component, z, indicators);
            is_event = enters_event_mode || t >= next_event;
            for (i = 0; i < indicators; i++) is_event = is_event || (z[i] > 0.0) != (before[i] > 0.0);
            if (is_event) {
                CALL(EnterEventMode, component);
                next_event = update();
                CALL(GetContinuousStates, component, x, states);
                CALL(GetEventIndicators, component, z, indicators);
            }
            memcpy(before, z, indicators * sizeof *z);
        }
        print("x", x, states);
        print("dx", k1, states);
        print("z", z, indicators);
        print_outputs("y");
    }
}

int main(int count, char **arguments) {
    static const Callbacks callbacks = {log_message, calloc, free, NULL, NULL};
    void *library;
    int is_exchange;
    if (count < 6) fail("the command line");
    read_plan(arguments[4]);
    is_exchange = strcmp(arguments[5], "me") == 0;
    library = load(arguments[1]);
    if (!library) fail("loading the library");
#define FIND(name) \
    *(void **)&fmi.name = symbol(library, "fmi2" #name); \
    if (!fmi.name) fail("finding fmi2" #name)
    FIND(Instantiate);
    FIND(SetupExperiment);
    FIND(EnterInitializationMode);
    FIND(ExitInitializationMode);
    FIND(GetReal);
    FIND(DoStep);
    FIND(GetFMUstate);
    FIND(SetFMUstate);
    FIND(FreeFMUstate);
    FIND(SerializedFMUstateSize);
    FIND(SerializeFMUstate);
    FIND(DeSerializeFMUstate);
    FIND(NewDiscreteStates);
    FIND(EnterEventMode);
    FIND(EnterContinuousTimeMode);
    FIND(SetTime);
    FIND(GetContinuousStates);
    FIND(SetContinuousStates);
    FIND(GetDerivatives);
    FIND(GetEventIndicators);
    FIND(CompletedIntegratorStep);
    FIND(Terminate);
    FIND(FreeInstance);
    component = fmi.Instantiate("fmu", is_exchange ? 0 : 1, arguments[2], arguments[3], &callbacks, 0, 0);
    if (!component) fail("instantiation");
    CALL(SetupExperiment, component, 0, 0.0, 0.0, 1, stop);
    CALL(EnterInitializationMode, component);
    CALL(ExitInitializationMode, component);
    print_outputs("start");
    if (is_exchange) model_exchange();
    else co_simulation(count > 6 ? arguments[6] : NULL, count > 7 && strcmp(arguments[7], "restore") == 0);
    CALL(Terminate, component);
    fmi.FreeInstance(component);
    return 0;
}
