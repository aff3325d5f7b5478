// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.rabbitmq;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.smqtt.message.LogText;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection to RabbitMQ, its idle channels, and whether the server takes messages. It is not opened again after its end. The methods that block
 * are for the thread of the sink, or of the run of a source.
 */
@AnyThread
final class RabbitmqLink {

    private static final Logger LOG = LoggerFactory.getLogger(RabbitmqLink.class);
    private static final int CLOSE_MILLIS = 1_000;

    private final RabbitmqServers servers;
    private final @Nullable String exchange;
    private final Queue<Channel> idle = new ArrayDeque<>(); // guarded by itself
    private volatile @Nullable Connection connection;
    private volatile @Nullable Socket socket;
    private volatile @Nullable String blocked;
    private volatile boolean doubtful;
    private volatile boolean ended;

    /**
     * Prepares a connection.
     *
     * @param servers where to
     * @param exchange must be there; null if messages have different ones, or need none
     */
    RabbitmqLink(RabbitmqServers servers, @Nullable String exchange) {
        this.servers = servers;
        this.exchange = exchange;
    }

    /** Connects. Blocks; {@link #cut} ends the wait. */
    void open() throws IOException {
        Connection opened = servers.connect(made -> {
            socket = made;
            if (ended) {
                made.close();
            }
        });
        opened.addBlockedListener(
                reason -> blocked = "blocked by the server: " + LogText.escape(reason), () -> blocked = null);
        connection = opened;
    }

    /**
     * Whether it can be used. One whose answers were given up is replaced, but not while the server is blocked: messages that it has not
     * read yet would be sent on each new connection again.
     */
    boolean isUsable() {
        Connection present = connection;
        return !ended && present != null && present.isOpen() && !(doubtful && blocked == null);
    }

    /** Why the server takes no messages, or null if it does. */
    @Nullable
    String blocked() {
        return blocked;
    }

    /**
     * Returns a channel with confirmations on which nothing is open. Blocks.
     *
     * @throws IOException if there is none, for instance because there is no such exchange
     */
    Channel channel() throws IOException {
        Channel free = idle();
        return free == null ? newChannel() : free;
    }

    private @Nullable Channel idle() {
        synchronized (idle) {
            Channel free = idle.poll();
            while (free != null && !free.isOpen()) {
                free = idle.poll();
            }
            return free;
        }
    }

    private Channel newChannel() throws IOException {
        Connection present = connection;
        if (present == null) {
            throw new SinkException("not connected", true);
        }
        Channel made = present.openChannel().orElseThrow(() -> new IOException("the server gives no more channels"));
        if (exchange != null) {
            made.exchangeDeclarePassive(exchange);
        }
        made.confirmSelect();
        return made;
    }

    /**
     * Returns a channel on which a number of messages is delivered before the first is acknowledged. Blocks.
     *
     * @throws IOException if there is none
     */
    Channel consumingChannel(int window) throws IOException {
        Connection present = connection;
        if (present == null) {
            throw new SinkException("not connected", true);
        }
        Channel made = present.openChannel().orElseThrow(() -> new IOException("the server gives no more channels"));
        made.basicQos(window);
        return made;
    }

    /** Takes a channel back on which nothing is open. */
    void release(Channel free) {
        synchronized (idle) {
            idle.add(free);
        }
    }

    /** Notes that answers are not waited for any more. Does not block. */
    void doubt() {
        doubtful = true;
    }

    /** Ends the connection at once, without a word to the server. What it has not read is discarded. May block for a moment. */
    void cut() {
        ended = true;
        Socket present = socket;
        if (present != null) {
            try {
                present.setSoLinger(true, 0);
                present.close();
            } catch (IOException e) {
                LOG.debug("a socket did not close", e);
            }
        }
    }

    /** Takes leave of the server. Blocks for about a second at most, or until {@link #cut} if it reads nothing. */
    void quit() {
        ended = true;
        Connection present = connection;
        if (present != null && blocked == null) {
            present.abort(CLOSE_MILLIS);
        }
    }
}
