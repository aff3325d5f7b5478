// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/**
 * Starts a broker on free loopback ports, lets one client through and stops: the training run from which the start script
 * makes its class archive. It depends on no configuration and leaves nothing behind.
 */
@Command(name = "warm-up", hidden = true, description = "Loads the classes that a start needs, then ends.")
final class WarmUpCommand implements Callable<Integer> {

    /**
     * CONNECT (MQTT 5.0, client w, with a session that outlives it, so that the store has work), SUBSCRIBE a QoS 1, PUBLISH a
     * at QoS 0 and 1, PINGREQ, DISCONNECT.
     */
    private static final byte[] PACKETS = HexFormat.of()
            .parseHex("101300044d5154540502003c05110000003c000177"
                    + "82070001000001" + "6101"
                    + "300500016100" + "78"
                    + "32070001610001" + "0078"
                    + "c000"
                    + "e000");

    private static final int TIMEOUT_MILLIS = 2_000;

    private final ProgramContext program;

    WarmUpCommand(ProgramContext program) {
        this.program = program;
    }

    @Override
    public Integer call() throws IOException {
        Path data = Files.createTempDirectory("smqtt-warm-up");
        try {
            return train(data);
        } finally {
            DataDirectory.deleteAll(data);
        }
    }

    private int train(Path data) {
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
        TrainingSignals signals = new TrainingSignals();
        BrokerStarter observed = (config, legacy, beforehand) -> {
            BrokerStarter.Running running = program.brokers().start(config, legacy, beforehand);
            signals.listeners = running.listeners();
            return running;
        };
        ProgramContext training = new ProgramContext(
                program.in(),
                nowhere,
                program.err(),
                Map.of(),
                program.directory(),
                observed,
                signals,
                program.nanoTime(),
                program.modules());
        return SmqttMain.run(
                training,
                "start",
                "--data=" + data,
                "--set=listeners.tcp.host=127.0.0.1",
                "--set=listeners.tcp.port=0",
                "--set=listeners.ws.host=127.0.0.1",
                "--set=listeners.ws.port=0",
                "--set=management.port=0",
                "--set=logging.level=error",
                "--set=shutdown-timeout=1s");
    }

    /** Stops the broker when it is ready, which is when it could be told to reload. */
    private static final class TrainingSignals implements Signals {

        private Map<String, InetSocketAddress> listeners = Map.of();
        private Runnable stop = () -> {};

        @Override
        public void onStop(Runnable action) {
            stop = action;
        }

        @Override
        public void onReload(Runnable action) {
            InetSocketAddress tcp = listeners.get("tcp");
            if (tcp != null) {
                exchange(tcp.getPort());
            }
            stop.run();
        }

        @Override
        public void halt() {}

        private static void exchange(int port) {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), TIMEOUT_MILLIS);
                socket.setSoTimeout(TIMEOUT_MILLIS);
                socket.getOutputStream().write(PACKETS);
                InputStream answers = socket.getInputStream();
                byte[] buffer = new byte[256];
                int read = 0;
                while (read >= 0) {
                    read = answers.read(buffer);
                }
            } catch (IOException e) {
                // An archive with fewer classes is still an archive.
            }
        }
    }
}
