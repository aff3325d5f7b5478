// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
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
 * A client that uses a stored session as a register, as other clients with the same identifier do at other nodes. The value is the identifier of the
 * session's only subscription: a SUBSCRIBE writes it, and a connection reads it by a message that it sends to itself. Each operation is an operation of
 * the session's owner, so a history that is linearizable had one owner at a time.
 */
final class SessionRegister extends Thread {

    private static final int SUBSCRIPTION_IDENTIFIER = 0x0B;
    private static final int NO_MATCHING_SUBSCRIBERS = 0x10;
    private static final int ERROR = 0x80;
    private static final long EXPIRY_SECONDS = 3_600;
    private static final Duration DEADLINE = Duration.ofSeconds(5);
    private static final int LONGEST_PAUSE_MILLIS = 20;

    /** One of so many connections only reads. */
    private static final int ONLY_READS = 2;

    private final ReplicatedCluster cluster;
    private final RegisterHistory history;
    private final String register;
    private final int number;
    private final AtomicInteger values;
    private final Random random;
    private final AtomicInteger refused = new AtomicInteger();
    private final AtomicInteger broken = new AtomicInteger();
    private volatile boolean stopping;
    private volatile @Nullable Throwable failure;

    /**
     * Creates a client.
     *
     * @param register the client identifier
     * @param number differs from that of all other clients
     * @param values the last value that a client of the register has written
     */
    SessionRegister(
            ReplicatedCluster cluster,
            RegisterHistory history,
            String register,
            int number,
            AtomicInteger values,
            long seed) {
        super(register + '-' + number);
        setDaemon(true);
        this.cluster = cluster;
        this.history = history;
        this.register = register;
        this.number = number;
        this.values = values;
        this.random = new Random(seed);
    }

    /** Ends the client after its last operation. */
    void end() throws InterruptedException {
        stopping = true;
        join();
        if (failure != null) {
            throw new IllegalStateException(getName(), failure);
        }
    }

    /** Connections that a node refused. */
    int refused() {
        return refused.get();
    }

    /** Connections that ended before their operations, because of another client or of a node. */
    int broken() {
        return broken.get();
    }

    @Override
    public void run() {
        try {
            while (!stopping) {
                InetSocketAddress address =
                        cluster.address(random.nextInt(ReplicatedCluster.NODES)).find();
                if (address != null) {
                    connect(address);
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1 + random.nextInt(LONGEST_PAUSE_MILLIS)));
            }
        } catch (RuntimeException e) {
            failure = e;
        }
    }

    private void connect(InetSocketAddress address) {
        long call = System.nanoTime();
        try (RawClient client = RawClient.to(address, ProtocolVersion.MQTT_5)) {
            client.deadline(DEADLINE);
            ReceivedPacket answer = client.send(ConnectBytes.of(register).persistent(EXPIRY_SECONDS))
                    .expect(MqttMessageType.CONNACK);
            if (answer.reasonCode() != 0) {
                refused.incrementAndGet();
                return;
            }
            Integer value = answer.sessionPresent() ? read(client) : Integer.valueOf(0);
            if (value == null) {
                refused.incrementAndGet();
                return;
            }
            history.read(register, number, value, call);
            if (random.nextInt(ONLY_READS) == 0) {
                write(client);
            }
        } catch (UncheckedIOException | AssertionError e) { // it was taken over, or the node is away
            broken.incrementAndGet();
        }
    }

    /** The value of the session; null if the node refuses the message. */
    private @Nullable Integer read(RawClient client) {
        String mark = getName() + ' ' + random.nextLong();
        client.send(PublishBytes.to("register/" + register).payload(mark).qos(1, client.nextPacketId()));
        Integer value = null;
        boolean acknowledged = false;
        while (value == null || !acknowledged) {
            ReceivedPacket packet = client.receive();
            if (packet == null) {
                throw new AssertionError("the connection ended");
            }
            if (packet.type() == MqttMessageType.PUBACK) {
                acknowledged = true;
                if (packet.reasonCode() >= ERROR) {
                    return null;
                }
                if (packet.reasonCode() == NO_MATCHING_SUBSCRIBERS) {
                    return 0;
                }
            } else if (packet.type() == MqttMessageType.PUBLISH && packet.text().equals(mark)) {
                value = (Integer) packet.properties(SUBSCRIPTION_IDENTIFIER).get(0);
            } else if (packet.type() != MqttMessageType.PUBLISH) {
                throw new AssertionError(packet.toString());
            }
        }
        return value;
    }

    private void write(RawClient client) {
        int value = values.incrementAndGet();
        long call = System.nanoTime();
        boolean done = false;
        try {
            client.send(SubscribeBytes.of(client.nextPacketId())
                    .filter("register/" + register, SubscribeBytes.NO_RETAINED)
                    .identifier(value));
            ReceivedPacket answer = client.receive();
            while (answer != null && answer.type() == MqttMessageType.PUBLISH) {
                answer = client.receive();
            }
            done = answer != null
                    && answer.type() == MqttMessageType.SUBACK
                    && answer.reasonCodes().equals(List.of(0));
        } finally {
            if (done) {
                history.written(register, number, value, call);
            } else {
                history.attempted(register, number, value, call);
            }
        }
    }
}
