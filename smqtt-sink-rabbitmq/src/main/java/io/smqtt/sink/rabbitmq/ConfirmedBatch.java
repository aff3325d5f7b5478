// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.rabbitmq;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ConfirmListener;
import com.rabbitmq.client.Return;
import com.rabbitmq.client.ReturnCallback;
import com.rabbitmq.client.ShutdownListener;
import com.rabbitmq.client.ShutdownSignalException;
import io.smqtt.message.LogText;
import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.BatchResult.Refusal;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a batch, until each is confirmed, refused or returned. Answers arrive on the thread of the connection, in any order; one may be for
 * several rows. The server returns a message that reaches no queue before it confirms it.
 */
@AnyThread
final class ConfirmedBatch implements ConfirmListener, ReturnCallback, ShutdownListener {

    static final String FULL = "the server has not taken it: a queue is full, or has failed";
    private static final String OVERTAKEN = "a row with the same routing key before it is sent again";

    private final Consumer<Outcome> outcome;
    private final boolean exchangeOfRow;

    // guarded by this
    private final NavigableMap<Long, Sent> open = new TreeMap<>(); // by delivery tag
    private final RowMessage.@Nullable Place[] places;
    private final @Nullable SinkException[] failures;
    private final boolean[] settled;
    private int unsettled;
    private boolean broken;
    private @Nullable SinkException refusal;

    /** A message without a confirmation. */
    private record Sent(int index, RowMessage message) {}

    /**
     * How a batch has ended.
     *
     * @param result what became of its rows
     * @param refusal why the server has refused one of them, if it is not known which; null otherwise
     */
    record Outcome(BatchResult result, @Nullable SinkException refusal) {}

    /**
     * Begins a batch.
     *
     * @param size the number of its rows
     * @param exchangeOfRow whether rows choose the exchange
     * @param outcome called once, when all are settled; must not block
     */
    ConfirmedBatch(int size, boolean exchangeOfRow, Consumer<Outcome> outcome) {
        this.outcome = outcome;
        this.exchangeOfRow = exchangeOfRow;
        this.places = new RowMessage.Place[size];
        this.failures = new SinkException[size];
        this.settled = new boolean[size];
        this.unsettled = size;
    }

    /** Listens to the answers on a channel. */
    void attach(Channel channel) {
        channel.addConfirmListener(this);
        channel.addReturnListener(this);
        channel.addShutdownListener(this);
    }

    /** Ends {@link #attach}. */
    void detach(Channel channel) {
        channel.clearConfirmListeners();
        channel.clearReturnListeners();
        channel.removeShutdownListener(this);
    }

    /** Notes a message, before it is published. */
    synchronized void sends(long tag, int index, RowMessage message) {
        places[index] = message.place();
        open.put(tag, new Sent(index, message));
    }

    /** Whether no further row is to be published: one has failed and will be sent again, or the result is not awaited any more. */
    synchronized boolean isBroken() {
        return broken;
    }

    /** The result is not awaited any more. */
    synchronized void cancel() {
        broken = true;
    }

    /** Settles a row that was not published. */
    void refuse(int index, SinkException failure) {
        end(() -> settle(index, failure));
    }

    /** Settles all rows from one on: they were not published, or it is not known. */
    void abandon(int from, SinkException failure) {
        end(() -> {
            open.values().removeIf(sent -> sent.index() >= from);
            for (int i = from; i < settled.length; i++) {
                settle(i, failure);
            }
        });
    }

    @Override
    public void handleAck(long tag, boolean multiple) {
        end(() -> answered(tag, multiple, null));
    }

    @Override
    public void handleNack(long tag, boolean multiple) {
        end(() -> answered(tag, multiple, new SinkException(FULL, true)));
    }

    private void answered(long tag, boolean multiple, @Nullable SinkException failure) {
        NavigableMap<Long, Sent> answered = multiple ? open.headMap(tag, true) : open.subMap(tag, true, tag, true);
        answered.values().forEach(sent -> settle(sent.index(), failure));
        answered.clear();
    }

    /** Messages are returned in the order in which they were published, and those that are alike have the same queues, or none. */
    @Override
    public synchronized void handle(Return returned) {
        for (Sent sent : open.values()) {
            if (failures[sent.index()] == null && sent.message().isLike(returned)) {
                failures[sent.index()] =
                        new SinkException("it reaches no queue: " + LogText.escape(returned.getReplyText()), false);
                return;
            }
        }
        SinkException unknown =
                new SinkException("a message reaches no queue: " + LogText.escape(returned.getReplyText()), false);
        if (settled.length == 1) {
            failures[0] = unknown;
        } else {
            refusal = unknown; // the server has changed the message: rows are sent one by one
        }
    }

    /** The channel has ended: whether the server has the open messages is not known. */
    @Override
    public void shutdownCompleted(ShutdownSignalException signal) {
        SinkException failure = RabbitmqFailure.of(signal, exchangeOfRow);
        end(() -> {
            broken = true;
            if (!failure.isRecoverable() && open.size() > 1) {
                refusal = failure;
            }
            open.values().forEach(sent -> settle(sent.index(), failure));
            open.clear();
        });
    }

    /** Called with this locked. The first failure of a row counts. */
    private void settle(int index, @Nullable SinkException failure) {
        if (!settled[index]) {
            settled[index] = true;
            unsettled--;
            if (failures[index] == null) {
                failures[index] = failure;
                broken |= failure != null && failure.isRecoverable();
            }
        }
    }

    private void end(Runnable change) {
        boolean last;
        synchronized (this) {
            boolean before = unsettled == 0;
            change.run();
            last = unsettled == 0 && !before;
        }
        if (last) {
            outcome.accept(outcome());
        }
    }

    /** After a failure that may pass, later rows of the same place are sent again too, so that the last message is that of the last row. */
    private synchronized Outcome outcome() {
        List<Refusal> refusals = new ArrayList<>();
        Set<RowMessage.@Nullable Place> again = new HashSet<>();
        for (int i = 0; i < settled.length; i++) {
            SinkException failure = failures[i];
            if (failure != null) {
                refusals.add(new Refusal(i, String.valueOf(failure.getMessage()), failure.isRecoverable()));
                if (failure.isRecoverable()) {
                    again.add(places[i]);
                }
            } else if (again.contains(places[i])) {
                refusals.add(new Refusal(i, OVERTAKEN, true, true));
            }
        }
        return new Outcome(refusals.isEmpty() ? BatchResult.DONE : new BatchResult(refusals), refusal);
    }
}
