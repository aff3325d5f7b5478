// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.wire;

import io.netty.handler.codec.mqtt.MqttMessageType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Stands between clients and a broker and fails as networks and brokers do. Knows the packets that pass, not what they mean; any
 * client and any broker will do, without TLS and WebSocket. Without faults it passes everything on. Thread-safe.
 *
 * <pre>{@code
 * import static io.netty.handler.codec.mqtt.MqttMessageType.PUBACK;
 * import io.smqtt.test.wire.MqttProxy;
 *
 * try (MqttProxy proxy = MqttProxy.to(broker.address())) {
 *     application.connect("127.0.0.1", proxy.port());
 *     proxy.fromBroker(PUBACK).times(1).drop();  // the application must send the message again
 *     proxy.cutConnections();                    // when it has connected again
 * }
 * }</pre>
 *
 * <p>Of several rules for a packet only the first takes it. Two threads serve each connection; {@link #close} ends all.
 */
public final class MqttProxy implements AutoCloseable {

    private static final String LOOPBACK = "127.0.0.1";

    private final InetSocketAddress target;
    private final ServerSocket server;
    private final Thread acceptor;
    private final List<FaultRule> rules = new CopyOnWriteArrayList<>();
    private final List<ProxyLink> links = new CopyOnWriteArrayList<>();
    private final List<RecordingLog> logs = new CopyOnWriteArrayList<>();
    private final AtomicLongArray bytesPerSecond = new AtomicLongArray(Side.values().length);
    private final AtomicLongArray budgets = new AtomicLongArray(Side.values().length);
    private final AtomicInteger accepted = new AtomicInteger();
    private volatile boolean recording;
    private volatile boolean refusing;
    private volatile boolean halfOpen;
    private volatile boolean closed;

    private MqttProxy(InetSocketAddress target) throws IOException {
        this.target = target.getAddress().isAnyLocalAddress()
                ? new InetSocketAddress(InetAddress.getLoopbackAddress(), target.getPort())
                : target;
        server = new ServerSocket(0, 50, loopback());
        heal();
        acceptor = new Thread(this::accept, "mqtt-proxy-" + server.getLocalPort());
        acceptor.setDaemon(true);
        acceptor.start();
    }

    private static InetAddress loopback() throws IOException {
        return InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
    }

    /**
     * Opens a proxy on a free port of the loopback address.
     *
     * @param broker where the broker listens
     * @return a proxy without faults
     */
    public static MqttProxy to(InetSocketAddress broker) {
        try {
            return new MqttProxy(broker);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Where clients connect to.
     *
     * @return an address of this machine only
     */
    public InetSocketAddress address() {
        return (InetSocketAddress) server.getLocalSocketAddress();
    }

    /**
     * The port that clients connect to.
     *
     * @return the one that the system chose
     */
    public int port() {
        return server.getLocalPort();
    }

    /**
     * Where clients connect to.
     *
     * @return such as {@code mqtt://127.0.0.1:40123}
     */
    public URI uri() {
        return URI.create("mqtt://" + LOOPBACK + ':' + port());
    }

    // --- faults of packets

    /**
     * Chooses packets that clients send.
     *
     * @param types the packet types; all if none is given
     * @return narrows the choice and names the fault
     */
    public PacketSelector fromClient(MqttMessageType... types) {
        return new PacketSelector(this, Side.CLIENT, Set.of(types));
    }

    /**
     * Chooses packets that the broker sends.
     *
     * @param types the packet types; all if none is given
     * @return narrows the choice and names the fault
     */
    public PacketSelector fromBroker(MqttMessageType... types) {
        return new PacketSelector(this, Side.BROKER, Set.of(types));
    }

    void add(FaultRule rule) {
        rules.add(rule);
    }

    void remove(FaultRule rule) {
        rules.remove(rule);
    }

    @Nullable
    Fault faultFor(Side side, WirePacket packet) {
        for (FaultRule rule : rules) {
            if (rule.takes(side, packet)) {
                return rule.fault();
            }
        }
        return null;
    }

    // --- faults of connections

    /** Resets all connections that are open now, as if the network had failed. New ones are served. */
    public void cutConnections() {
        links.forEach(ProxyLink::cut);
    }

    /**
     * Resets each connection once so many bytes have passed since it began. Connections that are past it are cut with their next byte.
     *
     * @param side whose bytes are counted
     * @param bytes how many arrive; what was sent beyond does not
     */
    public void cutAfterBytes(Side side, long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("no fewer than none: " + bytes);
        }
        budgets.set(side.ordinal(), bytes);
    }

    /** Resets new connections at once. Those that are open stay; see {@link #cutConnections}. */
    public void refuseConnections() {
        refusing = true;
    }

    /** Keeps all connections open, new ones too, and swallows what is sent: neither side is answered any more. */
    public void halfOpen() {
        halfOpen = true;
    }

    /**
     * Takes no more than so many bytes in a second from one side of each connection. The sender notices when the buffers of the
     * operating system are full; those of connections made later are small.
     *
     * @param sender whose bytes are taken slowly: {@link Side#BROKER} to look like a client that reads slowly
     * @param value at least 1
     */
    public void readSlowly(Side sender, int value) {
        if (value < 1) {
            throw new IllegalArgumentException("at least one byte: " + value);
        }
        bytesPerSecond.set(sender.ordinal(), value);
    }

    /** Ends all faults. What was swallowed stays lost, connections that were cut stay closed. */
    public void heal() {
        rules.clear();
        refusing = false;
        halfOpen = false;
        for (Side side : Side.values()) {
            bytesPerSecond.set(side.ordinal(), Integer.MAX_VALUE);
            budgets.set(side.ordinal(), Long.MAX_VALUE);
        }
    }

    boolean isHalfOpen() {
        return halfOpen;
    }

    int bytesPerSecond(Side sender) {
        return (int) bytesPerSecond.get(sender.ordinal());
    }

    long budget(Side sender) {
        return budgets.get(sender.ordinal());
    }

    // --- what passed

    /**
     * Records what passes on connections that are made from now on, before faults.
     *
     * @return this
     */
    public MqttProxy record() {
        recording = true;
        return this;
    }

    /**
     * What was recorded.
     *
     * @return one for each connection, in the order in which they came; a snapshot
     */
    public List<SessionRecording> recordings() {
        return logs.stream().map(RecordingLog::snapshot).toList();
    }

    /**
     * How many connections have come.
     *
     * @return also those that are gone; without those that were refused
     */
    public int connectionCount() {
        return accepted.get();
    }

    /**
     * How many connections are open.
     *
     * @return now
     */
    public int openConnectionCount() {
        return links.size();
    }

    // --- serving

    private void accept() {
        while (!closed) {
            try {
                Socket client = server.accept();
                if (refusing) {
                    ProxyLink.reset(client);
                } else {
                    accepted.incrementAndGet();
                    serve(client);
                }
            } catch (IOException e) {
                if (!closed && server.isClosed()) {
                    return;
                }
            }
        }
    }

    private void serve(Socket client) throws IOException {
        RecordingLog log = null;
        if (recording) {
            log = new RecordingLog();
            logs.add(log);
        }
        ProxyLink link = new ProxyLink(this, client, log);
        links.add(link);
        try {
            link.start(target);
        } catch (IOException e) { // the broker is not there
            link.cut();
        }
        if (closed) {
            link.cut();
        }
    }

    void ended(ProxyLink link) {
        links.remove(link);
    }

    /** Closes the port and cuts all connections; returns when the proxy's threads have ended. */
    @Override
    public void close() {
        closed = true;
        try {
            server.close();
            acceptor.join();
            for (ProxyLink link : links) {
                link.cut();
                link.join();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public String toString() {
        return "MqttProxy on " + port();
    }
}
