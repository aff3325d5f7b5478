// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A client with a stored session that comes back after every end of its connection, on a thread of its own. */
abstract class JournalClient extends Thread {

    /** How many messages are under way at once, in either direction. */
    static final int WINDOW = 50;

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration REFUSED = Duration.ofMillis(50);
    private static final long SESSION_SECONDS = 3_600;

    private final Whereabouts broker;
    private final String clientId;
    private ConnectionWatch watch = ConnectionWatch.STRICT;
    private boolean begun;
    private volatile @Nullable Socket socket;
    private volatile boolean stopping;
    private volatile int resumed;
    private volatile int fresh;
    private volatile int refused;
    private volatile @Nullable Throwable failure;

    JournalClient(String clientId, Whereabouts broker) {
        super(clientId);
        this.clientId = clientId;
        this.broker = broker;
        setDaemon(true);
    }

    /** Sets what observes the connections of the client. Before the start. */
    final void watch(ConnectionWatch observer) {
        watch = observer;
    }

    /** Does what the client is for, until the connection ends. */
    abstract void work(RawClient client);

    /** Whether there is nothing left to do. */
    abstract boolean isDone();

    /** The broker has no session of this client any more, which is an error unless a client expects it. */
    void sessionLost() {
        throw new AssertionError("the session of " + clientId + " is lost");
    }

    @Override
    public void run() {
        try {
            while (!isDone() && !stopping) {
                InetSocketAddress address = broker.find();
                if (address != null) {
                    connect(address);
                }
            }
        } catch (RuntimeException | AssertionError e) {
            failure = e;
        }
    }

    private void connect(InetSocketAddress address) {
        RawClient client;
        try {
            client = RawClient.to(address, ProtocolVersion.MQTT_5);
        } catch (UncheckedIOException e) { // not there yet, or not any more
            return;
        }
        try (client) {
            socket = client.socket();
            client.deadline(PATIENCE);
            ConnectBytes connect = ConnectBytes.of(clientId).persistent(SESSION_SECONDS);
            connect.properties().receiveMaximum(WINDOW);
            ReceivedPacket answer = client.send(connect).receive();
            if (answer == null) {
                return;
            }
            if (answer.type() != MqttMessageType.CONNACK) {
                throw new AssertionError(clientId + " was not answered: " + answer);
            }
            if (answer.reasonCode() == 0) {
                welcomed(client, address, answer.sessionPresent());
            } else if (watch.comesAgain(answer.reasonCode())) {
                refused++;
                LockSupport.parkNanos(REFUSED.toNanos());
            } else {
                throw new AssertionError(clientId + " was refused: " + answer);
            }
        } catch (UncheckedIOException e) {
            // the broker was killed
        } catch (AssertionError e) {
            if (!isEndOfConnection(e) && !(isSilence(e) && watch.endsInSilence())) {
                throw e;
            }
        } finally {
            watch.ended();
        }
    }

    private void welcomed(RawClient client, InetSocketAddress address, boolean sessionPresent) {
        if (begun) {
            note(sessionPresent);
        }
        watch.connected(address, !begun || sessionPresent);
        begun = true;
        work(client);
    }

    private void note(boolean sessionPresent) {
        if (sessionPresent) {
            resumed++;
        } else {
            fresh++;
            sessionLost();
        }
    }

    /** Whether the broker ended while this client wrote, or in the middle of a packet. */
    private static boolean isEndOfConnection(AssertionError error) {
        Throwable cause = error.getCause();
        return cause == null
                ? "the connection ended inside a packet".equals(error.getMessage())
                : cause instanceof IOException && !(cause instanceof SocketTimeoutException);
    }

    /** Whether nothing came for so long that the client gave up. */
    private static boolean isSilence(AssertionError error) {
        return error.getCause() instanceof SocketTimeoutException;
    }

    /** Ends its present connection, without a DISCONNECT; it comes back to where its broker is then. By any thread. */
    final void cut() {
        Socket open = socket;
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** How often it came back and found its session. */
    int resumed() {
        return resumed;
    }

    /** How often it came back and found none. */
    int fresh() {
        return fresh;
    }

    /** How often it was refused as unavailable, and came again. */
    int refused() {
        return refused;
    }

    /** Ends the client with its present connection. */
    void finish() {
        stopping = true;
    }

    /** What went wrong, if anything did. */
    @Nullable
    Throwable failure() {
        return failure;
    }
}
