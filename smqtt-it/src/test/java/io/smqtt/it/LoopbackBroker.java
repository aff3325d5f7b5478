// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Brokers whose ports are free ones of loopback: a listener for TCP, one for WebSocket that is off, and the management port. What a test needs
 * beyond that are settings.
 */
final class LoopbackBroker {

    /** The management token of {@link #open}. */
    static final String TOKEN = "0123456789abcdef-secret";

    private static final String PORTS = """
            management:
              port: 0
            listeners:
              tcp:
                host: 127.0.0.1
                port: 0
              ws:
                enabled: false
                host: 127.0.0.1
                port: 0
            """;

    /** Blocks of YAML: the ports of a broker, and a store in memory. */
    static final String MEMORY = PORTS + """
            storage:
              kind: memory
            """;

    private LoopbackBroker() {}

    /**
     * Starts a broker.
     *
     * @param directory working directory, where data is kept too
     * @param settings further settings, {@code key=value}
     */
    static BrokerProcess start(Path directory, String... settings) throws IOException {
        return with(directory, "", settings);
    }

    /** The same with further blocks of YAML, other than listeners and management. */
    static BrokerProcess with(Path directory, String blocks, String... settings) throws IOException {
        Path file = Files.writeString(directory.resolve("smqtt.yaml"), blocks + PORTS);
        return BrokerProcess.start(directory, List.of(), file, settings);
    }

    /** Starts a broker whose management token is {@link #TOKEN}, and that accepts clients without a password. */
    static BrokerProcess open(Path directory, String... settings) throws IOException {
        Path token = Files.writeString(directory.resolve("token"), TOKEN + "\n");
        List<String> all = new ArrayList<>(List.of("management.token-file=" + token, "access.allow-anonymous=true"));
        all.addAll(List.of(settings));
        return start(directory, all.toArray(String[]::new));
    }
}
