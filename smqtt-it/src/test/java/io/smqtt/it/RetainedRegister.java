// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.packet.SubscribeBytes;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Clients, one after the other, that use retained messages as registers, at a random node each: a PUBLISH at QoS 1 writes a topic, or removes its
 * message, and a SUBSCRIBE reads it. A register without a message has the value 0.
 */
final class RetainedRegister extends Thread {

    private static final int ERROR = 0x80;
    private static final byte PING = (byte) 0xC0;
    private static final int UNSUBSCRIBE = 0xA2;
    private static final Duration DEADLINE = Duration.ofSeconds(20);
    private static final int LONGEST_PAUSE_MILLIS = 10;
    private static final int OPERATIONS_OF_EACH = 8;
    private static final int REMOVALS = 6;
    private static final int WRITES = 3;

    private final ReplicatedCluster cluster;
    private final Registers registers;
    private final int number;
    private final Random random;
    private final AtomicInteger broken = new AtomicInteger();
    private int connections;
    private volatile boolean stopping;
    private volatile @Nullable Throwable failure;

    /**
     * The registers.
     *
     * @param history their reads and writes
     * @param nodes for each node the same writes, and the reads at that node
     * @param values the last value that was written to each register
     */
    record Registers(RegisterHistory history, List<RegisterHistory> nodes, List<AtomicInteger> values) {

        private void read(int register, int client, int node, int value, long call) {
            long end = System.nanoTime();
            history.read(name(register), client, value, call, end);
            nodes.get(node).read(name(register), client, value, call, end);
        }

        private void written(int register, int client, int value, long call) {
            long end = System.nanoTime();
            history.written(name(register), client, value, call, end);
            nodes.forEach(each -> each.written(name(register), client, value, call, end));
        }

        private void attempted(int register, int client, int value, long call) {
            history.attempted(name(register), client, value, call);
            nodes.forEach(each -> each.attempted(name(register), client, value, call));
        }

        private static String name(int register) {
            return "retained" + register;
        }
    }

    /**
     * Creates the clients of one thread.
     *
     * @param number differs from that of all other threads
     */
    RetainedRegister(ReplicatedCluster cluster, Registers registers, int number, long seed) {
        super("retained-" + number);
        setDaemon(true);
        this.cluster = cluster;
        this.registers = registers;
        this.number = number;
        this.random = new Random(seed);
    }

    /** Ends after the last operation. */
    void end() throws InterruptedException {
        stopping = true;
        join();
        if (failure != null) {
            throw new IllegalStateException(getName(), failure);
        }
    }

    /** Connections that ended before their operations, because a node was away or refused them. */
    int broken() {
        return broken.get();
    }

    @Override
    public void run() {
        try {
            while (!stopping) {
                int node = random.nextInt(ReplicatedCluster.NODES);
                InetSocketAddress address = cluster.address(node).find();
                if (address != null) {
                    connect(node, address);
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1 + random.nextInt(LONGEST_PAUSE_MILLIS)));
            }
        } catch (RuntimeException e) {
            failure = e;
        }
    }

    private void connect(int node, InetSocketAddress address) {
        try (RawClient client = RawClient.to(address, ProtocolVersion.MQTT_5)) {
            client.deadline(DEADLINE);
            String clientId = getName() + '-' + ++connections;
            if (client.connect(ConnectBytes.of(clientId).cleanStart(true)).reasonCode() != 0) {
                broken.incrementAndGet();
                return;
            }
            int operations = 1 + random.nextInt(OPERATIONS_OF_EACH);
            for (int i = 0; i < operations && !stopping; i++) {
                int register = random.nextInt(registers.values.size());
                if (random.nextInt(WRITES) == 0) {
                    write(client, register);
                } else {
                    read(client, node, register);
                }
            }
        } catch (UncheckedIOException | AssertionError e) { // the node is away
            broken.incrementAndGet();
        }
    }

    private void read(RawClient client, int node, int register) {
        long call = System.nanoTime();
        String topic = Registers.name(register);
        client.send(SubscribeBytes.of(client.nextPacketId()).filter(topic, 0)).send(PING, (byte) 0);
        int value = 0;
        ReceivedPacket packet = next(client, MqttMessageType.SUBACK);
        if (packet.reasonCodes().get(0) >= ERROR) {
            throw new AssertionError(packet.toString());
        }
        for (packet = next(client); packet.type() == MqttMessageType.PUBLISH; packet = next(client)) {
            if (packet.retain()) { // others are published meanwhile
                value = Integer.parseInt(packet.text());
            }
        }
        if (packet.type() != MqttMessageType.PINGRESP) {
            throw new AssertionError(packet.toString());
        }
        registers.read(register, number, node, value, call);
        client.send(PacketBytes.packet(UNSUBSCRIBE)
                .u16(client.nextPacketId())
                .noPropertiesIn(client.version())
                .string(topic));
        next(client, MqttMessageType.UNSUBACK);
    }

    /** The next packet of a type; messages that come before are passed over. */
    private static ReceivedPacket next(RawClient client, MqttMessageType type) {
        ReceivedPacket packet = next(client);
        while (packet.type() == MqttMessageType.PUBLISH) {
            packet = next(client);
        }
        if (packet.type() != type) {
            throw new AssertionError(packet.toString());
        }
        return packet;
    }

    private static ReceivedPacket next(RawClient client) {
        ReceivedPacket packet = client.receive();
        if (packet == null) {
            throw new AssertionError("the connection ended");
        }
        return packet;
    }

    private void write(RawClient client, int register) {
        int value = random.nextInt(REMOVALS) == 0
                ? 0
                : registers.values.get(register).incrementAndGet();
        long call = System.nanoTime();
        boolean done = false;
        try {
            client.send(PublishBytes.to(Registers.name(register))
                    .payload(value == 0 ? "" : String.valueOf(value))
                    .qos(1, client.nextPacketId())
                    .retained());
            done = client.expect(MqttMessageType.PUBACK).reasonCode() < ERROR;
        } finally {
            if (done) {
                registers.written(register, number, value, call);
            } else {
                registers.attempted(register, number, value, call);
            }
        }
    }
}
