// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The program {@code mosquitto_pub} against the listener {@code tcp} of a broker. */
final class MosquittoPub {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private MosquittoPub() {}

    /** Publishes with QoS 1 and MQTT 5.0, and returns what the program says, which is nothing if all went well. */
    static String publish(BrokerProcess broker, String... options) {
        List<String> all = new ArrayList<>(List.of("-V", "5", "-q", "1", "-m", "1"));
        all.addAll(List.of(options));
        return run(broker, all.toArray(String[]::new));
    }

    /** Returns what the program says, without its exit code, which differs from release to release. */
    static String run(BrokerProcess broker, String... options) {
        List<String> command = new ArrayList<>(List.of(
                ForeignProgram.path("mosquitto_pub"), "-h", "127.0.0.1", "-p", String.valueOf(broker.port("tcp"))));
        command.addAll(List.of(options));
        try (CapturedProcess process = CapturedProcess.start("mosquitto_pub", new ProcessBuilder(command))) {
            process.awaitExit(PATIENCE);
            return String.join("\n", process.output());
        }
    }
}
