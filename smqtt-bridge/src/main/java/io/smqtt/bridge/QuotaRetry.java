// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.channel.ChannelHandlerContext;
import io.smqtt.config.BridgeConfig;
import io.smqtt.session.DeliveryPause;
import io.smqtt.thread.OnEventLoop;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Messages that the other broker has refused with reason 0x97, quota exceeded, which passes: they are sent again after a pause, in the order of
 * the refusals, before any other message above QoS 0. Of one connection; after its end all messages in flight are sent again anyway. There are
 * at most as many as fit into the send window.
 */
@OnEventLoop
final class QuotaRetry {

    /** The reason code "Quota exceeded". */
    static final int QUOTA_EXCEEDED = 0x97;

    private static final int MOST_DOUBLINGS = 20;

    private final PausableSession pausable;
    private final LongConsumer log;
    private final long timeoutNanos;
    private final long minMillis;
    private final long maxMillis;

    /** When the messages that have not been accepted since were refused first, in nanoseconds, by packet identifier. */
    private final Map<Integer, Long> refusedFirst = new HashMap<>();

    /** Packet identifiers of messages to be sent again. */
    private final Set<Integer> due = new LinkedHashSet<>();

    private int rounds;
    private boolean paused;

    /** The session whose messages the other broker refuses. */
    interface PausableSession {

        /** The means of pausing it; null if it is not connected on this event loop. */
        @Nullable
        DeliveryPause find();
    }

    /**
     * Creates the state of one connection.
     *
     * @param log takes the milliseconds of a pause that begins
     */
    QuotaRetry(BridgeConfig config, PausableSession pausable, LongConsumer log) {
        this.pausable = pausable;
        this.log = log;
        this.timeoutNanos = config.quotaTimeout().toNanos();
        this.minMillis = config.minDelay().toMillis();
        this.maxMillis = config.maxDelay().toMillis();
    }

    /**
     * The other broker has refused a message. Begins a pause unless there is one.
     *
     * @return whether it is sent again; if not, the refusal is final
     */
    boolean takes(ChannelHandlerContext context, int packetId) {
        DeliveryPause session = pausable.find();
        if (session == null || timeoutNanos == 0 || !session.isInFlight(packetId)) {
            return false;
        }
        long now = System.nanoTime();
        Long first = refusedFirst.putIfAbsent(packetId, now);
        if (first != null && now - first >= timeoutNanos) {
            accepted(packetId);
            return false;
        }
        due.add(packetId);
        if (!paused) {
            paused = true;
            session.begin();
            long millis = Math.min(maxMillis, minMillis << Math.min(rounds++, MOST_DOUBLINGS));
            log.accept(millis);
            context.executor().schedule(() -> resume(context), millis, TimeUnit.MILLISECONDS);
        }
        return true;
    }

    boolean isPaused() {
        return paused;
    }

    /** A message needs no repetition: it is accepted, or gone. */
    void accepted(int packetId) {
        if (!refusedFirst.isEmpty() && refusedFirst.remove(packetId) != null && refusedFirst.isEmpty()) {
            rounds = 0;
        }
    }

    private void resume(ChannelHandlerContext context) {
        DeliveryPause session = context.channel().isActive() ? pausable.find() : null;
        if (session == null) {
            return; // the session sends them again over another connection
        }
        paused = false;
        List<Integer> again = List.copyOf(due);
        due.clear();
        for (int packetId : again) {
            if (!session.repeat(packetId)) {
                accepted(packetId);
            }
        }
        session.end();
    }
}
