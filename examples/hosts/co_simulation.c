/* A minimal importer: an FMU in Co-Simulation without other libraries than C's own. It applies a torque to the elbow of
   ../servoed_arm.toml and prints the angles every 0.1 s.

       grapple build examples/servoed_arm.toml && unzip -q servoed_arm.fmu -d servoed_arm
       headers=$(python3 -c 'import fmpy; print(fmpy.__path__[0])')/c-code
       cc -std=c11 -I "$headers" examples/hosts/co_simulation.c -ldl -o co_simulation
       ./co_simulation "$PWD/servoed_arm"

   The headers are FMI's own, as FMPy brings them. */
#include "fmi2FunctionTypes.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL(call) if ((call) != fmi2OK) fprintf(stderr, "%s\n", #call), exit(1)
#define FUNCTION(name) name##TYPE *name; if (!(*(void **)&name = dlsym(library, #name))) fprintf(stderr, "%s\n", #name), exit(1)

static void tell(fmi2ComponentEnvironment e, fmi2String name, fmi2Status s, fmi2String category, fmi2String text, ...) {
    (void)e, (void)s;
    fprintf(stderr, "%s, %s: %s\n", name, category, text); /* grapple passes formatted text, without further arguments. */
}

static const char *attribute(const char *xml, const char *element, const char *name) { /* The first one after `element`. */
    static char value[256];
    if (!(xml = strstr(xml, element)) || !(xml = strstr(xml, name)) || sscanf(xml + strlen(name), "=\"%255[^\"]", value) != 1)
        fprintf(stderr, "modelDescription.xml: no %s of %s\n", name, element), exit(1);
    return value;
}

int main(int count, char **arguments) {
    static char path[4096], xml[1 << 20];
    const char *folder = count > 1 ? arguments[1] : ".";
    snprintf(path, sizeof path, "%s/modelDescription.xml", folder);
    FILE *file = fopen(path, "r");
    if (!file) return perror(path), 1;
    xml[fread(xml, 1, sizeof xml - 1, file)] = 0;
    fclose(file);
    const fmi2ValueReference tau = atoi(attribute(xml, "name=\"elbow.tau\"", "valueReference"));
    fmi2ValueReference q[2] = {atoi(attribute(xml, "name=\"shoulder.q\"", "valueReference"))};
    q[1] = atoi(attribute(xml, "name=\"elbow.q\"", "valueReference"));

    snprintf(path, sizeof path, "%s/binaries/linux64/servoed_arm.so", folder);
    void *library = dlopen(path, RTLD_NOW);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
    FUNCTION(fmi2Instantiate); FUNCTION(fmi2SetupExperiment); FUNCTION(fmi2EnterInitializationMode); FUNCTION(fmi2ExitInitializationMode);
    FUNCTION(fmi2SetReal); FUNCTION(fmi2GetReal); FUNCTION(fmi2DoStep); FUNCTION(fmi2Terminate); FUNCTION(fmi2FreeInstance);

    const fmi2CallbackFunctions callbacks = {tell, calloc, free, NULL, NULL};
    snprintf(path, sizeof path, "file://%s/resources", folder);
    fmi2Component arm = fmi2Instantiate("arm", fmi2CoSimulation, attribute(xml, "fmiModelDescription", "guid"), path, &callbacks, 0, 0);
    if (!arm) return 1;
    CALL(fmi2SetupExperiment(arm, fmi2False, 0.0, 0.0, fmi2False, 0.0));
    CALL(fmi2EnterInitializationMode(arm));
    CALL(fmi2ExitInitializationMode(arm));
    for (int k = 0; k <= 50; k++) {
        fmi2Real angles[2], torque = k < 10 ? 5.0 : k < 20 ? -5.0 : 0.0; /* N·m */
        CALL(fmi2GetReal(arm, q, 2, angles));
        printf("%.1f %.17g %.17g\n", 0.1 * k, angles[0], angles[1]);
        CALL(fmi2SetReal(arm, &tau, 1, &torque));
        CALL(fmi2DoStep(arm, 0.1 * k, 0.1, fmi2True));
    }
    CALL(fmi2Terminate(arm));
    fmi2FreeInstance(arm);
    return dlclose(library);
}
