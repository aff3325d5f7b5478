// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.Elsewhere;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.thread.OnEventLoop;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The transfer of a session to another node. The session keeps its event loop until it has left or stays, and claims wait for
 * that. While PREPARING, pending writes complete; then messages are held back, and those that are not taken by the other node
 * while CATCHING_UP return if the transfer is cancelled.
 */
@OnEventLoop
final class OutgoingTransfer extends SessionTransfer implements SessionDeparture {

    private static final int PATIENCE_MILLIS = 5;
    private static final int ATTEMPTS = 400;

    private final Session session;
    private final SessionResources resources;
    private final RoutingLoop loop;
    private final List<StoredMessage> inHand = new ArrayList<>();
    private final List<RouteTicket> tickets = new ArrayList<>();

    /** The number of held messages that the other node has taken. */
    private int takenLate;

    private List<StoredMessage> memory = List.of();
    private int memoryAt;
    private long readFrom = 1;
    private boolean readAll;
    private @Nullable SessionState state;

    OutgoingTransfer(Session session, SessionResources resources) {
        super(session.id());
        this.session = session;
        this.resources = resources;
        this.loop = session.owner();
    }

    /** Begins the transfer of a session without a client. */
    void begin(Reply reply) {
        session.life().become(SessionPhase.DEPARTING);
        SessionRecord record = session.record();
        if (record == null || !record.mayBeServedElsewhere()) {
            attempt(reply, 0);
            return;
        }
        record.prove(kept -> {
            if (kept || session.hasEnded()) {
                attempt(reply, 0);
            } else {
                refuse(reply);
            }
        });
    }

    private void refuse(Reply reply) {
        become(Step.CANCELLED);
        session.life().stay();
        reply.busy();
    }

    private void attempt(Reply reply, int number) {
        if (session.hasEnded()) {
            become(Step.CANCELLED);
            session.life().runWaiting();
            reply.gone();
            return;
        }
        SessionRecord record = session.record();
        InboundFlow inbound = session.inboundOrNull();
        boolean quiet = record == null || (record.queue().isQuiet() && !isIncomplete(record));
        // the other node answers a repetition of a received QoS 2 message, so that this one must be accepted before
        boolean settled = inbound == null || inbound.isSettled();
        if (quiet && settled) {
            freeze();
            reply.departing(this);
        } else if (number >= ATTEMPTS) {
            refuse(reply);
        } else {
            loop.executor().schedule(() -> attempt(reply, number + 1), PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    /** Whether messages are held back since the session was adopted. */
    private boolean isIncomplete(SessionRecord record) {
        return record.isAdopted() && session.intake().awaitsEarlier();
    }

    private void freeze() {
        become(Step.COPYING);
        holdBack(session, true);
        SharedMember member = session.memberOrNull();
        if (member != null) {
            member.giveBackAll(); // the groups stay here
        }
        OutboundFlow outbound = session.outboundOrNull();
        memory = outbound == null ? List.of() : outbound.snapshot();
        readAll = session.record() == null;
        List<StoredSubscription> subscriptions =
                new ArrayList<>(session.subscriptions().size());
        session.subscriptions().forEach(subscription -> subscriptions.add(subscription.stored()));
        InboundFlow inbound = session.inboundOrNull();
        List<Integer> identifiers = inbound == null
                ? List.of()
                : Arrays.stream(inbound.identifiers()).boxed().toList();
        SessionRecord record = session.record();
        ExchangeNumbers numbers = record == null ? null : record.numbers();
        state = new SessionState(
                session.id(),
                session.client().userName(),
                session.expirySeconds(),
                session.claimClock(),
                session.life().cleanClock(),
                subscriptions,
                identifiers,
                numbers == null ? Map.of() : numbers.all());
    }

    @Override
    public SessionState state() {
        SessionState present = state;
        if (present == null) {
            throw new IllegalStateException("the session is not stopped yet");
        }
        return present;
    }

    @Override
    public void next(Consumer<StoredPage> reply) {
        loop.executor().execute(() -> {
            require(Step.COPYING);
            SessionRecord record = session.record();
            if (readAll || record == null) {
                reply.accept(new StoredPage(fromMemory(), null));
            } else {
                record.queue().readPage(readFrom, page -> {
                    if (page.failure() == null && page.messages().isEmpty()) {
                        readAll = true;
                        reply.accept(new StoredPage(fromMemory(), null));
                        return;
                    }
                    if (!page.messages().isEmpty()) {
                        readFrom =
                                page.messages().get(page.messages().size() - 1).sequence() + 1;
                    }
                    reply.accept(page);
                });
            }
        });
    }

    private List<StoredMessage> fromMemory() {
        List<StoredMessage> page = new ArrayList<>();
        int bytes = 0;
        while (memoryAt < memory.size() && page.size() < Stores.PAGE_MESSAGES && bytes < Stores.PAGE_BYTES) {
            StoredMessage next = memory.get(memoryAt++);
            page.add(next);
            bytes += next.message().footprintBytes();
        }
        return page;
    }

    @Override
    public void late(Consumer<List<StoredMessage>> reply) {
        loop.executor().execute(() -> {
            proceed(Step.CATCHING_UP);
            int bytes = 0;
            while (inHand.size() < Stores.PAGE_MESSAGES && bytes < Stores.PAGE_BYTES && !held().isEmpty()) {
                held().poll((message, subscription, ticket) -> {
                    inHand.add(subscription.stored(
                            inHand.size() + 1L,
                            message,
                            message.qos().atMost(subscription.maximumQos()),
                            StoredDelivery.WAITING));
                    tickets.add(ticket);
                });
                bytes += inHand.get(inHand.size() - 1).message().footprintBytes();
            }
            reply.accept(List.copyOf(inHand));
        });
    }

    @Override
    public void taken() {
        loop.executor().execute(() -> {
            require(Step.CATCHING_UP);
            takenLate += inHand.size();
            inHand.clear();
            tickets.forEach(ticket -> ticket.release(true));
            tickets.clear();
        });
    }

    @Override
    public void leave(Runnable done) {
        loop.executor().execute(() -> {
            become(Step.COMPLETED);
            session.intake().stopHolding(held());
            OutboundFlow outbound = session.outboundOrNull();
            int pending = outbound == null ? session.queuedCount() : outbound.pendingCount();
            elsewhere(Elsewhere.MOVED, takenLate + (session.hasEnded() ? 0 : pending));
            session.life().leave();
            elsewhere(Elsewhere.DUPLICATE, held().size()); // the other node has them too
            held().letGo((message, subscription, ticket) -> {});
            session.afterCommit(kept -> done.run());
        });
    }

    @Override
    public void stay() {
        loop.executor().execute(() -> {
            become(Step.CANCELLED);
            elsewhere(Elsewhere.MOVED, takenLate);
            for (int i = 0; i < inHand.size(); i++) {
                StoredMessage message = inHand.get(i);
                if (session.hasEnded()) {
                    resources.observer().messageDropped(DropReason.SESSION_ENDED, 1);
                } else {
                    session.take(message.message(), IncomingTransfer.subscription(session, message), tickets.get(i));
                }
                tickets.get(i).release(true);
            }
            letGo(session);
            session.life().stay();
        });
    }

    private void elsewhere(Elsewhere reason, int count) {
        if (count > 0) {
            resources.observer().messageElsewhere(reason, count);
        }
    }
}
