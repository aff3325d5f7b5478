// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.BrokerComposition;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * All that the program touches of the process around it.
 *
 * @param in a password, where there is no terminal
 * @param out what other programs read: listeners, values
 * @param err what people read: problems
 * @param environment variables
 * @param directory the working directory
 * @param brokers starts a broker
 * @param signals what the process is told from outside
 * @param nanoTime a clock that never steps back, in nanoseconds
 * @param modules the optional modules that are there
 */
record ProgramContext(
        InputStream in,
        PrintStream out,
        PrintStream err,
        Map<String, String> environment,
        Path directory,
        BrokerStarter brokers,
        Signals signals,
        LongSupplier nanoTime,
        Set<String> modules) {

    static ProgramContext ofProcess() {
        return new ProgramContext(
                System.in,
                System.out,
                System.err,
                System.getenv(),
                Path.of("").toAbsolutePath(),
                BrokerStarter.CORE,
                Signals.ofProcess(),
                System::nanoTime,
                BrokerComposition.modules(Extensions.loader()));
    }
}
