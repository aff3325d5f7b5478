// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The real program, {@code bin/smqtt start}, with a store on disk and one listener, {@code tcp}; to be killed, traced or
 * starved. The data directory is {@code data} below the directory that is given.
 */
final class StoredBroker {

    private static final String CONFIGURATION = """
            management:
              port: 0
            listeners:
              tcp:
                host: 127.0.0.1
                port: 0
              ws:
                enabled: false
            storage:
              kind: rocksdb
            limits:
              max-queued-messages: 10000000
              max-queued-bytes: 1GiB
            """;

    private StoredBroker() {}

    /**
     * Starts the program and waits until clients may come.
     *
     * @param settings {@code key=value}, beside those above
     */
    static BrokerProcess start(Path directory, String... settings) {
        return start(directory, List.of(), settings);
    }

    /**
     * Starts the program under another one.
     *
     * @param wrapper a command that runs the program and becomes it, so that the process is the broker's
     */
    static BrokerProcess start(Path directory, List<String> wrapper, String... settings) {
        return BrokerProcess.start(command(directory, wrapper, settings));
    }

    /** The command, for whoever does not want to wait until it has started. */
    static ProcessBuilder command(Path directory, List<String> wrapper, String... settings) {
        List<String> command = new ArrayList<>(List.of("env", "--default-signal=HUP"));
        command.addAll(wrapper);
        command.addAll(List.of(BrokerProcess.script().toString(), "start"));
        command.addAll(List.of("--config", configuration(directory).toString()));
        command.addAll(List.of("--data", data(directory).toString()));
        for (String setting : settings) {
            command.addAll(List.of("--set", setting));
        }
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("SMQTT_MEMORY", "1024");
        builder.environment().put("SMQTT_JAVA_OPTS", BrokerProcess.SHORT_LIVED);
        return builder;
    }

    /** The data directory. */
    static Path data(Path directory) {
        return directory.resolve("data");
    }

    private static Path configuration(Path directory) {
        try {
            return Files.writeString(directory.resolve("stored.yaml"), CONFIGURATION);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
