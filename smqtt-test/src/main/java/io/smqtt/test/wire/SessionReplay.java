// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.wire;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Plays one side of a recording and compares what the other side sends with what was sent then: the client against a broker, or the
 * broker for a client under test. A packet is sent when all that the other side had sent before has come, and not earlier than in the
 * recording. Immutable.
 *
 * <pre>{@code
 * import io.smqtt.test.wire.SessionRecording;
 * import io.smqtt.test.wire.SessionReplay;
 *
 * SessionReplay.of(SessionRecording.read(file)).withoutTiming().against(broker.address()).assertSame();
 * }</pre>
 */
public final class SessionReplay {

    private static final PacketInput.Pace UNHURRIED = new PacketInput.Pace() {
        @Override
        public void read(int bytes) {}

        @Override
        public int atMost() {
            return Integer.MAX_VALUE;
        }
    };

    private final SessionRecording recording;
    private final boolean timed;
    private final Duration deadline;
    private final Function<WirePacket, String> view;

    private SessionReplay(
            SessionRecording recording, boolean timed, Duration deadline, Function<WirePacket, String> view) {
        this.recording = recording;
        this.timed = timed;
        this.deadline = deadline;
        this.view = view;
    }

    /**
     * Begins with a recording. Packets must be the same to the byte, and have 10 seconds each.
     *
     * @param recording what is played
     * @return a replay that has not begun
     */
    public static SessionReplay of(SessionRecording recording) {
        return new SessionReplay(
                recording,
                true,
                Duration.ofSeconds(10),
                packet -> HexFormat.of().formatHex(packet.bytes()));
    }

    /**
     * Sends each packet as soon as what came before it has come.
     *
     * @return a replay that does not wait
     */
    public SessionReplay withoutTiming() {
        return new SessionReplay(recording, false, deadline, view);
    }

    /**
     * Changes how long the other side has for each packet, and for its connection.
     *
     * @param value in real time
     * @return a replay with this deadline
     */
    public SessionReplay deadline(Duration value) {
        return new SessionReplay(recording, timed, value, view);
    }

    /**
     * Changes what of the other side's packets is compared.
     *
     * @param value what must be the same, such as {@code packet -> packet.type() + packet.topic()}
     * @return a replay that compares this
     */
    public SessionReplay comparing(Function<WirePacket, String> value) {
        return new SessionReplay(recording, timed, deadline, value);
    }

    /**
     * The result of a replay.
     *
     * @param differences what the other side did otherwise, in words; ends with the first packet that does not come
     * @param actual what passed this time
     */
    public record Result(List<String> differences, SessionRecording actual) {

        /** Copies the differences. */
        public Result {
            differences = List.copyOf(differences);
        }

        /**
         * The other side did as it had done.
         *
         * @return this
         * @throws AssertionError if it did not, with all differences and what passed
         */
        public Result assertSame() {
            if (!differences.isEmpty()) {
                throw new AssertionError(
                        "the replay differs:\n  " + String.join("\n  ", differences) + "\n" + actual.toText());
            }
            return this;
        }
    }

    /**
     * Plays the recording. Blocks until its end, or until a packet does not come.
     *
     * @param broker where to connect to
     * @return what came of it
     * @throws UncheckedIOException if the connection cannot be made
     */
    public Result against(InetSocketAddress broker) {
        try (Socket socket = new Socket(broker.getAddress(), broker.getPort())) {
            socket.setTcpNoDelay(true);
            return play(socket, Side.CLIENT);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /**
     * Plays the broker for the next client that connects, on a free port of the loopback address.
     *
     * @return where to connect to, and later what came of it
     * @throws UncheckedIOException if there is no port
     */
    public Served serve() {
        try {
            return new Served(this);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A replay that waits for its client, on a thread of its own. Thread-safe. */
    public static final class Served implements AutoCloseable {

        private final ServerSocket server;
        private final CompletableFuture<Result> result = new CompletableFuture<>();

        private Served(SessionReplay replay) throws IOException {
            server = new ServerSocket(0, 1, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
            server.setSoTimeout(replay.timeoutMillis());
            Thread thread = new Thread(() -> run(replay), "mqtt-replay-" + server.getLocalPort());
            thread.setDaemon(true);
            thread.start();
        }

        private void run(SessionReplay replay) {
            try (Socket client = server.accept()) {
                client.setTcpNoDelay(true);
                result.complete(replay.play(client, Side.BROKER));
            } catch (IOException | InterruptedException | RuntimeException e) {
                result.completeExceptionally(e);
            }
        }

        /**
         * Where the client connects to.
         *
         * @return an address of this machine only
         */
        public InetSocketAddress address() {
            return (InetSocketAddress) server.getLocalSocketAddress();
        }

        /**
         * Waits for the end of the replay.
         *
         * @return what came of it
         * @throws IllegalStateException if no client came, or the replay was closed
         */
        public Result await() {
            try {
                return result.get();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted", e);
            } catch (ExecutionException e) {
                throw new IllegalStateException("no client was served: " + e.getCause(), e.getCause());
            }
        }

        /** Closes the port; a client that is served goes on. */
        @Override
        public void close() {
            try {
                server.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private int timeoutMillis() {
        return (int) Math.max(1, Math.min(Integer.MAX_VALUE, deadline.toMillis()));
    }

    private Result play(Socket socket, Side ours) throws IOException, InterruptedException {
        RecordingLog log = new RecordingLog();
        List<String> differences = new ArrayList<>();
        PacketInput input = new PacketInput(socket.getInputStream(), UNHURRIED);
        socket.setSoTimeout(timeoutMillis());
        long start = System.nanoTime();
        boolean v5 = false;
        boolean goesOn = true;
        for (int i = 0; i < recording.entries().size() && goesOn; i++) {
            SessionRecording.Entry entry = recording.entries().get(i);
            v5 |= WirePacket.isConnectOfV5(entry.bytes());
            if (entry.sender() == ours) {
                if (timed) {
                    TimeUnit.NANOSECONDS.sleep(entry.at().toNanos() - (System.nanoTime() - start));
                }
                goesOn = send(socket, entry, log, differences, i);
            } else {
                goesOn = receive(input, entry, v5, log, differences, i);
            }
        }
        return new Result(differences, log.snapshot());
    }

    private static boolean send(
            Socket socket, SessionRecording.Entry entry, RecordingLog log, List<String> differences, int at)
            throws IOException {
        log.packet(entry.sender(), entry.bytes());
        if (entry.isEnd()) {
            socket.close();
            return false;
        }
        try {
            socket.getOutputStream().write(entry.bytes());
            return true;
        } catch (IOException e) {
            differences.add("entry " + (at + 1) + ": the other side has ended the connection");
            return false;
        }
    }

    private boolean receive(
            PacketInput input,
            SessionRecording.Entry entry,
            boolean v5,
            RecordingLog log,
            List<String> differences,
            int at)
            throws InterruptedException {
        String wanted = entry.isEnd() ? "the end of the connection" : new WirePacket(entry.bytes(), v5).toString();
        byte[] bytes;
        try {
            bytes = next(input);
        } catch (SocketTimeoutException e) {
            differences.add("entry " + (at + 1) + ": nothing came within " + deadline + " instead of " + wanted);
            return false;
        }
        log.packet(entry.sender(), bytes == null ? new byte[0] : bytes);
        if (bytes == null) {
            if (!entry.isEnd()) {
                differences.add("entry " + (at + 1) + ": the connection ended instead of " + wanted);
            }
            return false;
        }
        WirePacket packet = new WirePacket(bytes, v5);
        if (entry.isEnd() || !view.apply(packet).equals(view.apply(new WirePacket(entry.bytes(), v5)))) {
            differences.add("entry " + (at + 1) + ": " + packet + " came instead of " + wanted);
        }
        return !entry.isEnd();
    }

    /** A reset is an end too. */
    private static byte @Nullable [] next(PacketInput input) throws SocketTimeoutException, InterruptedException {
        try {
            return input.next();
        } catch (SocketTimeoutException e) {
            throw e;
        } catch (IOException e) {
            return null;
        }
    }
}
