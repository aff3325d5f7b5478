// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.BrokerModule;
import io.smqtt.session.DeliveryPause;
import io.smqtt.session.Session;
import io.smqtt.session.SessionContents;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The session of one connection of a bridge at this broker, and the account of its messages. */
@AnyThread
final class OwnSession {

    private final BrokerModule.Core core;
    private final String id;
    private final BridgeCounts counts;
    private final BridgeLog log;
    private final Supplier<String> address;
    private final Refusals refusals = new Refusals();
    private volatile @Nullable Session last;

    /**
     * Creates the view of a session, which need not be there.
     *
     * @param id the client identifier at this broker
     * @param address supplies the address of the other broker, for logs
     */
    OwnSession(BrokerModule.Core core, String id, BridgeCounts counts, BridgeLog log, Supplier<String> address) {
        this.core = core;
        this.id = id;
        this.counts = counts;
        this.log = log;
        this.address = address;
    }

    /** The client identifier at this broker. */
    String id() {
        return id;
    }

    /** The session of this node; null if there is none. */
    @Nullable
    Session find() {
        return core.sessions().find(id);
    }

    private @Nullable SessionContents contents() {
        Session session = find();
        return session == null ? null : new SessionContents(session);
    }

    /** The messages that wait for the other broker. */
    int waiting() {
        SessionContents contents = contents();
        return contents == null ? 0 : contents.waiting() + counts.waiting();
    }

    /** The messages that were dropped from the queue. */
    long dropped() {
        SessionContents contents = contents();
        return contents == null ? 0 : contents.dropped();
    }

    /** The messages in flight that were refused with reason 0x97. */
    Refusals refusals() {
        return refusals;
    }

    /** Packet identifiers that no message of the session has, on its event loop; fewer if there are not so many. */
    @OnEventLoop
    int[] spareIdentifiers(int count) {
        SessionContents contents = contents();
        return contents == null ? new int[0] : contents.spareIdentifiers(count);
    }

    /** The session is opened. If it is not the former one, the counts of the former messages are cleared. */
    @OnEventLoop
    void opened() {
        Session now = find();
        if (last != null && last != now) {
            refusals.clear();
            counts.forgetWithheld();
        }
        last = now;
    }

    /** Counts messages that have expired after the other broker had refused them for the time being. */
    void expired(int count) {
        for (int i = 0; i < count; i++) {
            log.expired(address.get());
            counts.refused();
        }
    }

    /** Counts messages that the session has given up since they were refused or withheld, on its event loop. */
    @OnEventLoop
    void countGone() {
        DeliveryPause present = deliveryPause();
        if (present != null) {
            expired(refusals.removeGone(present));
            counts.removeGone(id -> present.inFlight(id) == null);
        }
    }

    /** The means of pausing the session, while it is connected on the present event loop; else null. */
    @OnEventLoop
    @Nullable
    DeliveryPause deliveryPause() {
        Session session = here();
        return session == null ? null : new DeliveryPause(session);
    }

    /** The session, while it is connected on the present event loop; else null. */
    @OnEventLoop
    @Nullable
    Session here() {
        Session session = find();
        boolean present = session != null
                && session.isOnline()
                && session.owner().executor().inEventLoop();
        return present ? session : null;
    }

    /** Logs how many messages were dropped from the queue since the last call, and counts others that are gone. */
    void logDrops() {
        Session session = find();
        if (session != null) {
            session.execute(this::countGone);
        }
        log.queueDrops(dropped(), waiting());
        log.givenUp(counts.notSentCount(DropCause.GIVEN_UP));
    }
}
