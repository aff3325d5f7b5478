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
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;

/**
 * Starts a broker on free loopback ports, lets a client of MQTT 5.0 and one of MQTT 3.1.1 through, and stops: the training run from
 * which the start script makes its class archive. It depends on no configuration and leaves nothing behind.
 */
@Command(name = "warm-up", hidden = true, description = "Loads the classes that a start needs, then ends.")
final class WarmUpCommand implements Callable<Integer> {

    /**
     * CONNECT (MQTT 5.0, client w, with a session that outlives it, so that the store has work), SUBSCRIBE a QoS 1, PUBLISH a
     * at QoS 0 and 1, PINGREQ, DISCONNECT.
     */
    private static final byte[] PACKETS_5 = HexFormat.of()
            .parseHex("101300044d5154540502003c05110000003c000177"
                    + "82070001000001" + "6101"
                    + "300500016100" + "78"
                    + "32070001610001" + "0078"
                    + "c000"
                    + "e000");

    /** The same by a client of MQTT 3.1.1 whose session ends with its connection. */
    private static final byte[] PACKETS_3 = HexFormat.of()
            .parseHex("100d00044d5154540402003c000177"
                    + "820600010001" + "6101"
                    + "3004000161" + "78"
                    + "320600016100" + "0178"
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
        StopSignal stop = new StopSignal();
        BrokerStarter observed = (config, legacy, beforehand) -> {
            BrokerStarter.Running running = program.brokers().start(config, legacy, beforehand);
            letClientsThrough(running.listeners().get("tcp"));
            stop.give();
            return running;
        };
        ProgramContext training = new ProgramContext(
                program.in(),
                nowhere,
                program.err(),
                Map.of(),
                program.directory(),
                observed,
                stop,
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

    private void letClientsThrough(@Nullable InetSocketAddress listener) {
        if (listener == null) {
            return;
        }
        try {
            exchange(listener.getPort(), PACKETS_5);
            exchange(listener.getPort(), PACKETS_3);
        } catch (IOException e) {
            program.err().println("smqtt: no client got through, the archive has fewer classes: " + e.getMessage());
        }
    }

    private static void exchange(int port, byte[] packets) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), TIMEOUT_MILLIS);
            socket.setSoTimeout(TIMEOUT_MILLIS);
            socket.getOutputStream().write(packets);
            InputStream answers = socket.getInputStream();
            byte[] buffer = new byte[256];
            int read = 0;
            while (read >= 0) {
                read = answers.read(buffer);
            }
        }
    }

    /** Stops the broker when its clients are through. */
    private static final class StopSignal implements Signals {

        private Runnable stop = () -> {};

        void give() {
            stop.run();
        }

        @Override
        public void onStop(Runnable action) {
            stop = action;
        }

        @Override
        public void onReload(Runnable action) {}

        @Override
        public void halt() {}
    }
}
