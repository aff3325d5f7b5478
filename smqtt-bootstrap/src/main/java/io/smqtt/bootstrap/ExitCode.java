// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.util.LinkedHashMap;
import java.util.Map;

/** Exit codes of the process. */
final class ExitCode {

    static final int OK = 0;
    static final int UNEXPECTED = 1;
    static final int USAGE = 2;
    static final int BAD_CONFIGURATION = 3;
    static final int NO_ANSWER = BAD_CONFIGURATION;
    static final int PORT_IN_USE = 4;
    static final int BAD_DATA = 5;
    static final int INTERRUPTED = 130;

    private ExitCode() {}

    /** {@return what each code means, in the order of the codes; one sentence each} */
    static Map<Integer, String> meanings() {
        Map<Integer, String> meanings = new LinkedHashMap<>();
        meanings.put(OK, "All is well.");
        meanings.put(
                UNEXPECTED,
                "An unexpected error, other nodes with replicas that did not come, a running broker that refused what ctl asked for or does not have it, or a limit that "
                        + "bench found broken.");
        meanings.put(USAGE, "Wrong usage: a flag or an argument is unknown, missing or malformed.");
        meanings.put(
                BAD_CONFIGURATION,
                "The configuration, or a file that it or the command line names, cannot be used; or ctl got no answer.");
        meanings.put(PORT_IN_USE, "An address cannot be bound, for instance because the port is in use.");
        meanings.put(
                BAD_DATA,
                "The stored data cannot be used: damaged, in use, of a newer version, or on a disk that fails.");
        meanings.put(INTERRUPTED, "A signal interrupted bench; what was measured until then was reported.");
        return meanings;
    }
}
