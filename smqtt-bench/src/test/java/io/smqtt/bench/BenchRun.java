// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import io.smqtt.Broker;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ListenerConfig;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;

/** The load command in this process, and what it prints. */
final class BenchRun {

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final Interruption interruption = new Interruption();

    /** A broker in this process, on loopback. */
    static Broker startBroker(Map<String, ListenerConfig> listeners) {
        return Objects.requireNonNull(Broker.builder()
                .config(BrokerConfig.builder().listeners(listeners).build())
                .start()
                .block());
    }

    /** A listener on any free port. */
    static ListenerConfig tcp() {
        return ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build();
    }

    /** Runs the command to its end. Returns the exit code. */
    int execute(String... arguments) {
        return BenchCommand.commandLine(print(out), print(err), interruption).execute(arguments);
    }

    /** Asks the command to end before its time. */
    void interrupt() {
        interruption.ask();
    }

    String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    String err() {
        return err.toString(StandardCharsets.UTF_8);
    }

    void forgetOut() {
        out.reset();
    }

    private static PrintStream print(ByteArrayOutputStream bytes) {
        return new PrintStream(bytes, true, StandardCharsets.UTF_8);
    }
}
