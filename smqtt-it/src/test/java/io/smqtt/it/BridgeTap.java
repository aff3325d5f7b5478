// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Carries the connections of a bridge to the other broker, and notes which numbers were acknowledged. So what a broker has lost that
 * acknowledged it can be told from what was lost on the way. Numbers are expected as payloads above QoS 0, of a topic in one direction only.
 */
final class BridgeTap implements AutoCloseable {

    private static final int CONNACK = 2;
    private static final int PUBLISH = 3;
    private static final int PUBACK = 4;
    private static final int PUBREC = 5;
    private static final int PUBCOMP = 7;
    private static final int DISCONNECT = 14;
    private static final int QUOTA_EXCEEDED = 0x97;

    private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final int target;
    private final boolean v5;
    private final PacketTrace trace;
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private final Direction there = new Direction();
    private final Direction here = new Direction();
    private final Map<String, Set<Integer>> acknowledged = new ConcurrentHashMap<>();
    private final Map<String, Integer> reasons = new ConcurrentHashMap<>();
    private final Map<String, Set<Integer>> begun = new ConcurrentHashMap<>();
    private final Map<String, SendOrder> orders = new ConcurrentHashMap<>(); // by topic
    private final AtomicInteger begunAgain = new AtomicInteger();
    private final AtomicInteger takenForAnother = new AtomicInteger();
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicInteger newSessions = new AtomicInteger();

    /**
     * A message that was sent.
     *
     * @param takenForAnother whether the receiver had to take it for the repetition of another one, whose packet identifier it has
     */
    private record Sent(String topic, int number, boolean takenForAnother) {

        private boolean isOf(String otherTopic, int other) {
            return number == other && topic.equals(otherTopic);
        }
    }

    /** The messages that were sent to one of the two brokers, by packet identifier. */
    private static final class Direction {
        private final Map<Integer, Sent> last = new ConcurrentHashMap<>();
        private final Map<Integer, Sent> unreleased = new ConcurrentHashMap<>(); // of QoS 2, without a PUBCOMP
    }

    /**
     * Opens a port.
     *
     * @param targetPort the port of the other broker
     * @param v5 whether the bridge speaks MQTT 5.0
     * @param name the end of the name of a trace
     */
    BridgeTap(int targetPort, boolean v5, String name) throws IOException {
        this.trace = PacketTrace.ofProperty("smqtt.bridge.kill.trace", name);
        this.target = targetPort;
        this.v5 = v5;
        start(this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    /** The numbers of a topic that their receiver has acknowledged: PUBACK, or PUBREC. */
    Set<Integer> acknowledged(String topic) {
        return new HashSet<>(acknowledged.getOrDefault(topic, Set.of()));
    }

    /** The reason codes of errors in answers and of DISCONNECT of both brokers, and how often each came. */
    Map<String, Integer> reasons() {
        return new TreeMap<>(reasons);
    }

    /** The order in which the messages of a topic were sent. */
    SendOrder order(String topic) {
        return orders.computeIfAbsent(topic, key -> new SendOrder());
    }

    /** How many messages of QoS 2 were begun once more, not repeated as the same one. */
    int begunAgain() {
        return begunAgain.get();
    }

    /** How many messages of QoS 2 had the packet identifier of another one that was not released, so that the receiver discarded them. */
    int takenForAnother() {
        return takenForAnother.get();
    }

    /** The connections that were accepted. */
    int connections() {
        return connections.get();
    }

    /** How many of them found no session. */
    int newSessions() {
        return newSessions.get();
    }

    private void accept() throws IOException {
        while (true) {
            Socket inward = server.accept();
            sockets.add(inward);
            start(() -> carry(inward));
        }
    }

    private void carry(Socket inward) throws IOException {
        int number = trace.begin();
        try (inward;
                Socket outward = new Socket()) {
            sockets.add(outward);
            outward.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), target));
            inward.setTcpNoDelay(true);
            outward.setTcpNoDelay(true);
            start(() -> {
                try (inward;
                        outward) {
                    pass(
                            outward,
                            inward,
                            trace.of(number, '<', (header, body) -> passed(number, header, body, here, there)));
                } finally {
                    trace.end(number, '<');
                }
            });
            pass(inward, outward, trace.of(number, '>', (header, body) -> passed(number, header, body, there, here)));
        } finally {
            trace.end(number, '>');
        }
    }

    private static void pass(Socket from, Socket to, PacketTrace.Listener listener) throws IOException {
        InputStream in = new BufferedInputStream(from.getInputStream());
        while (true) {
            byte[] packet = read(in);
            int body = 1;
            while ((packet[body++] & 0x80) != 0) {}
            listener.packet(packet[0] & 0xff, ByteBuffer.wrap(packet, body, packet.length - body));
            to.getOutputStream().write(packet);
        }
    }

    private static byte[] read(InputStream in) throws IOException {
        ByteArrayOutputStream packet = new ByteArrayOutputStream();
        packet.write(next(in));
        int length = 0;
        int shift = 0;
        int last;
        do {
            last = next(in);
            packet.write(last);
            length |= (last & 0x7f) << shift;
            shift += 7;
        } while (last >= 0x80);
        byte[] body = in.readNBytes(length);
        if (body.length < length) {
            throw new EOFException();
        }
        packet.writeBytes(body);
        return packet.toByteArray();
    }

    private static int next(InputStream in) throws IOException {
        int next = in.read();
        if (next < 0) {
            throw new EOFException();
        }
        return next;
    }

    /**
     * Notes a packet.
     *
     * @param own the messages of its direction
     * @param other those of the other one, which it may acknowledge
     */
    private void passed(int connection, int header, ByteBuffer body, Direction own, Direction other) {
        int type = header >> 4;
        if (type == PUBLISH) {
            published(connection, header, body, own);
        } else {
            answered(connection, type, body, other);
        }
    }

    private void published(int connection, int header, ByteBuffer body, Direction own) {
        int qos = header >> 1 & 3;
        if (qos == 0) {
            return;
        }
        byte[] name = new byte[body.getShort()];
        body.get(name);
        int packetId = body.getShort();
        if (v5) {
            int properties = body.get(); // fewer than 128 bytes
            body.position(body.position() + properties);
        }
        String topic = new String(name, StandardCharsets.UTF_8);
        int number = Integer.parseInt(StandardCharsets.UTF_8.decode(body).toString());
        boolean repeated = (header & 8) != 0;
        boolean first = begun.computeIfAbsent(topic, key -> ConcurrentHashMap.newKeySet())
                .add(number);
        if (qos == 2 && !first && !repeated) {
            begunAgain.incrementAndGet();
        }
        order(topic).sent(connection, number, packetId);
        Sent before = qos == 2 ? own.unreleased.get(packetId) : null;
        boolean other = before != null && !before.isOf(topic, number);
        Sent sent = new Sent(topic, number, other);
        own.last.put(packetId, sent);
        if (other) {
            takenForAnother.incrementAndGet();
        } else if (qos == 2) {
            own.unreleased.put(packetId, sent);
        }
    }

    private void answered(int connection, int type, ByteBuffer body, Direction other) {
        if (type == CONNACK) {
            boolean present = body.get() != 0;
            if (body.get() == 0) {
                connections.incrementAndGet();
                newSessions.addAndGet(present ? 0 : 1);
                if (!present) {
                    there.unreleased.clear();
                    here.unreleased.clear();
                }
            }
        } else if (type == PUBACK || type == PUBREC) {
            int packetId = body.getShort();
            Sent sent = other.last.get(packetId);
            int reason = body.hasRemaining() ? body.get() & 0xff : 0;
            if (reason >= 0x80) {
                note(type == PUBACK ? "PUBACK" : "PUBREC", reason);
            }
            if (sent != null && reason >= 0x80) { // the exchange has ended, so the message may be begun once more
                begun.getOrDefault(sent.topic, new HashSet<>()).remove(sent.number);
                if (reason == QUOTA_EXCEEDED) {
                    order(sent.topic).refused(connection, sent.number, packetId);
                } else {
                    order(sent.topic).acknowledged(sent.number, packetId); // it is not sent again
                }
            }
            if (sent != null && !sent.takenForAnother && reason < 0x80) {
                acknowledged
                        .computeIfAbsent(sent.topic, key -> ConcurrentHashMap.newKeySet())
                        .add(sent.number);
                order(sent.topic).acknowledged(sent.number, packetId);
            }
        } else if (type == PUBCOMP) {
            other.unreleased.remove((int) body.getShort());
        } else if (type == DISCONNECT) {
            note("DISCONNECT", body.hasRemaining() ? body.get() & 0xff : 0);
        }
    }

    private void note(String packet, int reason) {
        reasons.merge(String.format("%s 0x%02x", packet, reason), 1, Integer::sum);
    }

    private static void start(Step step) {
        Thread thread = new Thread(
                () -> {
                    try {
                        step.run();
                    } catch (IOException e) {
                        // the end of either side ends the connection
                    }
                },
                "bridge-tap");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        server.close();
        trace.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    private interface Step {
        void run() throws IOException;
    }
}
