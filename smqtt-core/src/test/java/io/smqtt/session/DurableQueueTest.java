// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.DropPolicy;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A queue in the store is read while several event loops write to it: a page can have a message, and not yet those before it. */
class DurableQueueTest {

    private static final long HOUR = 3_600;

    private final FoundStore store = new FoundStore();
    private final List<StoredMessage> rows = new ArrayList<>();
    private final RecordingSink sink = new RecordingSink();
    private SessionBench bench = bench(LimitsConfig.defaults());

    private SessionBench bench(LimitsConfig limits) {
        SessionBench created = new SessionBench(
                1, limits, SessionConfig.builder().dropPolicy(DropPolicy.OLDEST).build(), store);
        created.registry.recover();
        return created;
    }

    /** Runs all tasks and commits what they store. */
    private void run() {
        for (int i = 0; i < 5; i++) {
            bench.run();
            store.commit();
        }
        bench.run();
    }

    private Session open() {
        SessionBench.Outcome outcome = bench.request("a", 0, false, HOUR, sink);
        run();
        Session session = outcome.session;
        assertThat(session).isNotNull();
        return session;
    }

    private void row(long sequence, String text, QoS qos) {
        rows.add(new StoredMessage(
                sequence, bench.message("t", text, qos), "t", qos, false, new int[0], StoredDelivery.WAITING));
        rows.sort((one, other) -> Long.compare(one.sequence(), other.sequence()));
    }

    private JointTicket deliverJoint(Session session, Subscription subscription, String text) {
        JointTicket ticket = new JointTicket();
        session.deliver(bench.message("t", text, QoS.EXACTLY_ONCE), subscription, ticket);
        return ticket;
    }

    private void acknowledgeAll(Session session) {
        for (int i = 0; i < sink.sent.size(); i++) {
            RecordingSink.Sent sent = sink.sent.get(i);
            if (sent.qos() == QoS.AT_LEAST_ONCE) {
                session.onPubAck(sent.packetId(), ReasonCode.SUCCESS);
            } else {
                session.onPubRec(sent.packetId(), ReasonCode.SUCCESS);
                run();
                session.onPubComp(sent.packetId());
            }
            run();
        }
    }

    @Test
    void aMessageThatAPageDoesNotShowYetIsNotSkipped() {
        Session session = open();
        Subscription subscription = SessionBench.subscribe(session, "t", QoS.EXACTLY_ONCE);
        sink.sendMaximum = 1;
        bench.publish(0, "t", "sent", QoS.AT_LEAST_ONCE);
        run();
        long first = 2;
        store.messages.put(store.newest(), rows);
        JointTicket stored = deliverJoint(session, subscription, "first");
        row(first, "first", QoS.EXACTLY_ONCE);
        row(first + 2, "third", QoS.EXACTLY_ONCE); // its event loop was faster than the session's
        stored.committed(); // a page is read

        bench.publish(0, "t", "second", QoS.AT_LEAST_ONCE);
        deliverJoint(session, subscription, "third").committed();
        row(first + 1, "second", QoS.AT_LEAST_ONCE);
        run();
        acknowledgeAll(session);

        assertThat(sink.texts()).containsExactly("sent", "first", "second", "third");
        assertThat(session.queuedCount()).isZero();
    }

    /** The same at QoS 2: it is committed between the page and its arrival. */
    @Test
    void aMessageThatIsCommittedAfterAPageWasReadIsNotSkipped() {
        Session session = open();
        Subscription subscription = SessionBench.subscribe(session, "t", QoS.EXACTLY_ONCE);
        sink.sendMaximum = 1;
        bench.publish(0, "t", "sent", QoS.AT_LEAST_ONCE);
        run();
        store.messages.put(store.newest(), rows);
        JointTicket stored = deliverJoint(session, subscription, "first");
        JointTicket late = deliverJoint(session, subscription, "second");
        bench.publish(0, "t", "third", QoS.AT_LEAST_ONCE);
        row(2, "first", QoS.EXACTLY_ONCE);
        row(4, "third", QoS.AT_LEAST_ONCE);
        stored.committed(); // a page is read
        row(3, "second", QoS.EXACTLY_ONCE);
        late.committed();
        run();
        acknowledgeAll(session);

        assertThat(sink.texts()).containsExactly("sent", "first", "second", "third");
        assertThat(session.queuedCount()).isZero();
    }

    /** A message that must make room is the oldest one that waits, also if a page has a later one. */
    @Test
    void onlyTheOldestMessageMakesRoom() {
        bench = bench(LimitsConfig.builder().maxQueuedMessages(2).build());
        Session session = open();
        Subscription subscription = SessionBench.subscribe(session, "t", QoS.EXACTLY_ONCE);
        session.connectionEnded(sink, false, -1);
        run();
        store.messages.put(store.newest(), rows);
        JointTicket first = deliverJoint(session, subscription, "first");
        JointTicket second = deliverJoint(session, subscription, "second");
        row(2, "second", QoS.EXACTLY_ONCE);
        second.committed();
        bench.publish(0, "t", "third", QoS.AT_LEAST_ONCE); // a page is read that does not have the first one
        row(1, "first", QoS.EXACTLY_ONCE);
        row(3, "third", QoS.AT_LEAST_ONCE);
        first.committed();
        run();
        session = open();
        run();
        acknowledgeAll(session);

        assertThat(sink.texts()).containsExactly("first", "second", "third");
    }
}
