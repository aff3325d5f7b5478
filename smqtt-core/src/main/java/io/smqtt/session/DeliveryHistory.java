// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The messages that all sessions of a node have taken lately. Recorded from {@link #begin} on: on nodes of a cluster only. While a node is away
 * whose sessions may return, and for {@value #AFTER_RETURN_MINUTES} minutes after that, more of them are kept: up to 1/64 of the heap, instead of
 * about 1 MiB for each event loop. What is too much afterwards is dropped with later deliveries.
 */
@AnyThread
final class DeliveryHistory {

    /** The sessions of a node that returns are merged one after the other. */
    static final int AFTER_RETURN_MINUTES = 10;

    private static final int USUAL_BLOCKS = 2;
    private static final int SHARE_OF_HEAP = 64;

    /** Changes the key of a session, which stays odd: what it has lost is among what it has taken. */
    private static final long LOST = 0x5851_F42D_4C95_7F2CL;

    /** The key of all stored sessions, for deliveries of {@link TakenNotes}. */
    private static final long STORED = 0x2545_F491_4F6C_DD1DL;

    private static final long BLOCK_BYTES = 2L * TakenMessages.CAPACITY * Long.BYTES;

    private final Ticker ticker;
    private final long maximumBytes;
    private volatile TakenBlocks @Nullable [] byLoop;
    private volatile int mostBlocks = USUAL_BLOCKS;

    private volatile boolean nodeAway;
    private volatile boolean keepsMore;
    private long returnedAtNanos;

    DeliveryHistory(Ticker ticker) {
        this(ticker, Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP);
    }

    DeliveryHistory(Ticker ticker, long maximumBytes) {
        this.ticker = ticker;
        this.maximumBytes = maximumBytes;
    }

    /** Starts to record. */
    void begin(int loops) {
        TakenBlocks[] all = new TakenBlocks[loops];
        Arrays.setAll(all, i -> new TakenBlocks());
        mostBlocks = (int) Math.max(USUAL_BLOCKS, maximumBytes / loops / BLOCK_BYTES);
        byLoop = all;
    }

    /** Whether a node is away whose sessions may return. Called again and again, by one thread at a time. */
    void nodeAway(boolean away) {
        if (nodeAway && !away) {
            returnedAtNanos = ticker.nanoTime();
        }
        nodeAway = away;
        keepsMore = away
                || (keepsMore && ticker.nanoTime() - returnedAtNanos <= TimeUnit.MINUTES.toNanos(AFTER_RETURN_MINUTES));
    }

    boolean isNodeAway() {
        return nodeAway;
    }

    private int blocks() {
        return keepsMore ? mostBlocks : USUAL_BLOCKS;
    }

    /** Records a message that a session takes on its event loop: at QoS 1 that of a session that outlives its connection. */
    @OnEventLoop
    void took(
            RoutingLoop loop,
            long sessionKey,
            ApplicationMessage message,
            Subscription subscription,
            boolean outlivesConnection) {
        if (byLoop != null
                && (message.qos() == QoS.EXACTLY_ONCE || (outlivesConnection && message.qos() == QoS.AT_LEAST_ONCE))) {
            took(loop, sessionKey, TakenMessages.idOf(message, subscription));
        }
    }

    /** Records a delivery, also one that has come with a session from another node. */
    @OnEventLoop
    void took(RoutingLoop loop, long sessionKey, long deliveryId) {
        TakenBlocks[] all = byLoop;
        if (all != null && deliveryId != ApplicationMessage.NO_ID) {
            all[loop.index()].took(sessionKey, deliveryId, blocks());
        }
    }

    /** Records that a session has not got a delivery that it had taken, because it could not be stored: a repetition is taken. */
    @OnEventLoop
    void lost(RoutingLoop loop, long sessionKey, long deliveryId) {
        took(loop, sessionKey ^ LOST, deliveryId);
    }

    /** The same for a delivery of a note, see {@link TakenNotes#delivery}. */
    @OnEventLoop
    void lostNoted(int loop, long delivery) {
        TakenBlocks[] all = byLoop;
        if (all != null) {
            all[loop].took(STORED, delivery, blocks());
        }
    }

    /** Whether a stored session has lost a delivery of a note. */
    boolean hasLostNoted(long delivery) {
        return contains(STORED, delivery);
    }

    /** Whether a session is known to have taken a delivery, and not to have lost it; see {@link TakenMessages#idOf}. */
    boolean knows(long sessionKey, long deliveryId) {
        return contains(sessionKey, deliveryId) && !contains(sessionKey ^ LOST, deliveryId);
    }

    private boolean contains(long sessionKey, long deliveryId) {
        TakenBlocks[] all = byLoop;
        if (all != null) {
            for (TakenBlocks ofLoop : all) {
                if (ofLoop.knows(sessionKey, deliveryId)) {
                    return true;
                }
            }
        }
        return false;
    }
}
