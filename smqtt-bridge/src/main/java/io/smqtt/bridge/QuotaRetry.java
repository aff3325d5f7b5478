// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.Future;
import io.smqtt.config.BridgeConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.session.DeliveryPause;
import io.smqtt.thread.OnEventLoop;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Messages that the other broker has refused with reason 0x97, quota exceeded, which passes. They are sent again in the order of the refusals:
 * after a delay the first one, and when that is taken the others. Until all are taken no other message above QoS 0 is sent. Of one connection;
 * after its end all messages in flight are sent again anyway. There are at most as many as fit into the send window.
 */
@OnEventLoop
final class QuotaRetry {

    /** The reason code "Quota exceeded". */
    static final int QUOTA_EXCEEDED = 0x97;

    private static final int MOST_DOUBLINGS = 20;

    /** Maximum number of messages that are sent again and have no answer yet. */
    private static final int AT_ONCE = 64;

    /** After so many repetitions, one after another, of which none was taken, the session is perhaps of no use. */
    private static final int MOST_IN_VAIN = 6;

    private final PausableSession pausable;
    private final LongConsumer log;
    private final Runnable gone;
    private final long timeoutNanos;
    private final long minMillis;
    private final long maxMillis;
    private final Refusals refusals;

    /** Packet identifiers of the messages that were refused over this connection and are not taken yet. */
    private final Set<Integer> refused = new LinkedHashSet<>();

    /** Those that were sent again, and have no answer yet. */
    private final Set<Integer> repeated = new HashSet<>();

    private @Nullable ChannelHandlerContext connection; // with refused messages
    private int rounds;
    private @Nullable Future<?> next;

    /** The session whose messages the other broker refuses. */
    interface PausableSession {

        /** The means of pausing it; null if it is not connected on this event loop. */
        @Nullable
        DeliveryPause find();
    }

    /**
     * Creates the state of one connection.
     *
     * @param refusals what was refused, over successive connections
     * @param log takes the milliseconds of a delay that begins
     * @param gone runs for each message that is to be sent again, and that our session gives up: it has expired
     */
    QuotaRetry(BridgeConfig config, PausableSession pausable, Refusals refusals, LongConsumer log, Runnable gone) {
        this.pausable = pausable;
        this.refusals = refusals;
        this.log = log;
        this.gone = gone;
        this.timeoutNanos = config.quotaTimeout().toNanos();
        this.minMillis = config.minDelay().toMillis();
        this.maxMillis = config.maxDelay().toMillis();
    }

    /**
     * The other broker has refused a message.
     *
     * @return whether it is sent again; if not, the refusal is final
     */
    boolean takes(ChannelHandlerContext context, int packetId) {
        DeliveryPause session = timeoutNanos == 0 ? null : pausable.find();
        ApplicationMessage message = session == null ? null : session.inFlight(packetId);
        if (session == null || message == null) {
            return false;
        }
        if (refusals.refused(packetId, message, System.nanoTime()) >= timeoutNanos) {
            return false;
        }
        boolean begins = refused.isEmpty();
        connection = context;
        refused.add(packetId);
        repeated.remove(packetId);
        session.refused(packetId);
        if (begins) {
            session.begin();
        }
        if (next == null) {
            long millis = Math.min(maxMillis, minMillis << Math.min(rounds++, MOST_DOUBLINGS));
            log.accept(millis);
            next = context.executor().schedule(() -> repeat(context), millis, TimeUnit.MILLISECONDS);
        }
        return true;
    }

    /** Whether messages are refused and not taken yet. */
    boolean isPaused() {
        return !refused.isEmpty();
    }

    /** Whether no message was taken for so long that the reason is perhaps the session at the other broker. */
    boolean isInVain() {
        return rounds > MOST_IN_VAIN;
    }

    /**
     * A message needs no repetition.
     *
     * @param taken whether the other broker has taken it; if not, it is refused for good
     */
    void settled(ChannelHandlerContext context, int packetId, boolean taken) {
        if (refusals.isEmpty() && refused.isEmpty()) {
            return;
        }
        refusals.remove(packetId);
        if (taken) {
            rounds = 0;
        }
        if (!refused.remove(packetId)) {
            return;
        }
        repeated.remove(packetId);
        if (next == null) {
            next = context.executor().schedule(() -> repeat(context), 0, TimeUnit.NANOSECONDS);
        }
    }

    /** A message is not passed on any more. */
    void dropped(int packetId) {
        if (connection == null) {
            refusals.remove(packetId);
        } else {
            settled(connection, packetId, false);
        }
    }

    private void repeat(ChannelHandlerContext context) {
        next = null;
        DeliveryPause session = context.channel().isActive() ? pausable.find() : null;
        if (session == null) {
            return; // the session sends them again over another connection
        }
        int most = rounds > 0 ? 1 : AT_ONCE;
        for (int packetId : List.copyOf(refused)) {
            if (repeated.size() >= most) {
                return;
            }
            if (repeated.add(packetId) && !session.repeat(packetId)) { // it has expired
                repeated.remove(packetId);
                refused.remove(packetId);
                refusals.remove(packetId);
                gone.run();
            }
        }
        if (refused.isEmpty()) {
            session.end();
        }
    }

    /** The connection has ended. */
    void end() {
        if (next != null) {
            next.cancel(false);
        }
    }
}
