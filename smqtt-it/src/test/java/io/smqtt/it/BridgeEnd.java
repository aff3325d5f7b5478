// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One end of a bridge: a broker that is killed, and started again on its port and its data. */
abstract class BridgeEnd implements AutoCloseable {

    private final Whereabouts clients = new Whereabouts();

    /**
     * This broker.
     *
     * @param folder of its configuration and data, which is made
     * @param bridges the block of its bridges, or an empty text
     */
    static BridgeEnd smqtt(Path folder, int port, String bridges) throws IOException {
        return new Ours(configuration(folder, port, bridges));
    }

    /** Writes the configuration of {@link #smqtt}. */
    static Path configuration(Path folder, int port, String bridges) throws IOException {
        return Files.writeString(Files.createDirectories(folder).resolve("test.yaml"), """
                management:
                  enabled: false
                access:
                  allow-anonymous: loopback
                listeners:
                  tcp:
                    host: 127.0.0.1
                    port: %d
                  ws:
                    enabled: false
                limits:
                  max-queued-messages: 10000000
                  max-queued-bytes: 1GiB
                  max-awaiting-release: 65535
                """.formatted(port) + bridges);
    }

    /** A mosquitto. */
    static BridgeEnd mosquitto(Path configuration, int port) {
        return new Foreign(port, () -> {
            CapturedProcess started = CapturedProcess.start(
                    "mosquitto", new ProcessBuilder(ForeignProgram.path("mosquitto"), "-c", configuration.toString()));
            InstalledMosquitto.awaitListening(port, started);
            return started;
        });
    }

    /** A HiveMQ CE, with its data in a folder. */
    static BridgeEnd hivemq(Path home, int port) throws IOException {
        return new Foreign(port, JavaPeer.hivemq(home, port)::start);
    }

    /** The address for its clients. */
    Whereabouts clients() {
        return clients;
    }

    /** Starts it; returns when it takes connections. */
    void start() {
        clients.set(begin());
    }

    /** Kills it with {@code kill -9}; its clients look for it again. */
    void kill() {
        clients.set(null);
        close();
    }

    abstract InetSocketAddress begin();

    /** The last lines that it has printed since its last start. */
    abstract Stream<String> output();

    /** Kills it, if it runs. */
    @Override
    public abstract void close();

    private static final class Ours extends BridgeEnd {

        private final Path configuration;
        private @Nullable BrokerProcess process;

        Ours(Path configuration) {
            this.configuration = configuration;
        }

        @Override
        InetSocketAddress begin() {
            BrokerProcess started = BrokerProcess.start(configuration.resolveSibling(""), List.of(), configuration);
            process = started;
            return started.address("tcp");
        }

        @Override
        Stream<String> output() {
            return process == null ? Stream.empty() : process.output().stream();
        }

        @Override
        public void close() {
            if (process != null) {
                process.kill9();
                process.close();
                process = null;
            }
        }
    }

    private static final class Foreign extends BridgeEnd {

        private final int port;
        private final Supplier<CapturedProcess> starter;
        private @Nullable CapturedProcess process;

        Foreign(int port, Supplier<CapturedProcess> starter) {
            this.port = port;
            this.starter = starter;
        }

        @Override
        InetSocketAddress begin() {
            process = starter.get();
            return new InetSocketAddress("127.0.0.1", port);
        }

        @Override
        Stream<String> output() {
            return process == null ? Stream.empty() : process.output().stream();
        }

        @Override
        public void close() {
            if (process != null) {
                process.close();
                process = null;
            }
        }
    }
}
