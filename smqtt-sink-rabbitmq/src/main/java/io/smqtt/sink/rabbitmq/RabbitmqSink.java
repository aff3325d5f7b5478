// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.rabbitmq;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.BatchResult.Refusal;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Publishes a message for each row, and settles it by the confirmation of the server. A thread of its own publishes, because that may block; no
 * thread waits for confirmations. Each batch has a channel, which it returns when all is confirmed; there is one connection.
 */
@AnyThread
final class RabbitmqSink implements Sink {

    private static final int PROBE_CLOSE_MILLIS = 500;

    private final RabbitmqServers servers;
    private final MessageTemplate template;
    private final @Nullable String exchange;
    private final boolean exchangeOfRow;
    private final boolean mandatory;
    private final PublishThread thread;
    private volatile boolean closed;

    /** Changed on the thread only. */
    private volatile @Nullable RabbitmqLink link;

    RabbitmqSink(SinkContext context, RabbitmqServers servers, MessageTemplate template) {
        this.servers = servers;
        this.template = template;
        String fixed = template.fixedExchange();
        this.exchange = "".equals(fixed) ? null : fixed;
        this.exchangeOfRow = fixed == null;
        this.mandatory = context.settings().flag(RabbitmqSinkFactory.MANDATORY);
        this.thread = new PublishThread(servers.name());
    }

    /** A failure is a value until a subscriber takes it: Reactor logs an error that comes after the last subscriber has left. */
    @Override
    public Mono<BatchResult> send(List<SinkRecord> batch) {
        return Mono.<Mono<BatchResult>>create(waiter -> {
                    RabbitmqLink known = link;
                    String blocked = known == null || !known.isUsable() ? null : known.blocked();
                    if (blocked != null) { // the thread perhaps waits for the server
                        waiter.success(Mono.just(refused(batch.size(), blocked)));
                        return;
                    }
                    AtomicReference<@Nullable Runnable> release = new AtomicReference<>();
                    AtomicReference<@Nullable RabbitmqLink> used = new AtomicReference<>();
                    ConfirmedBatch progress = new ConfirmedBatch(batch.size(), exchangeOfRow, outcome -> {
                        Runnable free = release.get();
                        if (free != null) {
                            free.run();
                        }
                        SinkException refusal = outcome.refusal();
                        waiter.success(refusal == null ? Mono.just(outcome.result()) : Mono.error(refusal));
                    });
                    waiter.onCancel(() -> {
                        progress.cancel();
                        giveUp(used.get());
                    });
                    try {
                        thread.execute(() -> publish(batch, progress, release, used));
                    } catch (RejectedExecutionException e) {
                        waiter.success(Mono.error(isClosed()));
                    }
                })
                .flatMap(Function.identity());
    }

    private static BatchResult refused(int rows, String reason) {
        return new BatchResult(IntStream.range(0, rows)
                .mapToObj(index -> new Refusal(index, reason, true))
                .toList());
    }

    private static SinkException isClosed() {
        return new SinkException("the sink is closed", true);
    }

    /**
     * A result is not awaited any more. The connection is replaced, since its channels may have answers to come.
     *
     * @param present the connection of the batch; null if it has not come to one
     */
    private void giveUp(@Nullable RabbitmqLink present) {
        if (present == null || closed) {
            return;
        }
        present.doubt();
        if (present.blocked() == null) {
            Schedulers.boundedElastic().schedule(present::cut);
        }
    }

    // --- on the thread

    private void publish(
            List<SinkRecord> batch,
            ConfirmedBatch progress,
            AtomicReference<@Nullable Runnable> release,
            AtomicReference<@Nullable RabbitmqLink> used) {
        int next = 0;
        try {
            if (progress.isBroken()) {
                return; // cancelled while it waited
            }
            RabbitmqLink present = link();
            used.set(present);
            refuseIfBlocked(present);
            Channel channel = present.channel();
            release.set(() -> {
                progress.detach(channel);
                if (channel.isOpen()) {
                    present.release(channel);
                }
            });
            progress.attach(channel);
            for (; next < batch.size(); next++) {
                refuseIfBlocked(present);
                if (progress.isBroken()) {
                    throw new SinkException("not sent after the failure of a row before it", true);
                }
                publish(present, channel, batch.get(next), next, progress);
            }
        } catch (IOException | RuntimeException e) {
            progress.abandon(next, notSent(RabbitmqFailure.of(e, exchangeOfRow)));
        }
    }

    /** A row that was not published can be sent again, whatever ended the channel. */
    private static SinkException notSent(SinkException failure) {
        return failure.isRecoverable() ? failure : new SinkException(String.valueOf(failure.getMessage()), true);
    }

    private void publish(RabbitmqLink present, Channel channel, SinkRecord row, int index, ConfirmedBatch progress)
            throws IOException {
        RowMessage message;
        try {
            message = template.message(row);
        } catch (SinkException e) {
            progress.refuse(index, e);
            return;
        }
        progress.sends(channel.getNextPublishSeqNo(), index, message);
        try {
            channel.basicPublish(
                    message.place().exchange(),
                    message.place().routingKey(),
                    mandatory,
                    message.properties(),
                    message.body());
        } catch (IllegalArgumentException e) {
            progress.refuse(index, new SinkException("it cannot be encoded: " + e.getMessage(), false));
            present.cut(); // the client has counted a message that the server never gets
        }
    }

    private static void refuseIfBlocked(RabbitmqLink present) {
        String reason = present.blocked();
        if (reason != null) {
            throw new SinkException(reason, true);
        }
    }

    /** The connection, which is opened if there is none that can be used. */
    private RabbitmqLink link() throws IOException {
        RabbitmqLink present = link;
        if (closed) {
            throw isClosed();
        }
        if (present != null && present.isUsable()) {
            return present;
        }
        if (present != null) {
            present.cut();
        }
        RabbitmqLink made = new RabbitmqLink(servers, exchange);
        link = made;
        if (closed) { // meanwhile
            made.cut();
        }
        made.open();
        return made;
    }

    /** Connects anew, so that login, virtual host and exchange are checked as they are now. */
    @Override
    public Mono<Void> check() {
        return Mono.<Void>fromRunnable(() -> {
                    try {
                        probe();
                    } catch (IOException | RuntimeException e) {
                        throw RabbitmqFailure.of(e, false);
                    }
                })
                .subscribeOn(Schedulers.boundedElastic());
    }

    private void probe() throws IOException {
        if (closed) {
            throw isClosed();
        }
        RabbitmqLink present = link;
        if (present != null && present.isUsable()) {
            refuseIfBlocked(present);
        }
        Connection connection = servers.connect(socket -> {});
        try {
            Channel channel =
                    connection.openChannel().orElseThrow(() -> new IOException("the server gives no more channels"));
            if (exchange != null) {
                channel.exchangeDeclarePassive(exchange);
            }
        } finally {
            connection.abort(PROBE_CLOSE_MILLIS);
        }
    }

    /** Rows without an answer have failed: their messages stay in the queue of the action. */
    @Override
    public void close() {
        closed = true;
        List<Runnable> rest = thread.close(
                () -> {
                    RabbitmqLink present = link;
                    if (present != null) {
                        present.quit();
                    }
                },
                () -> {
                    RabbitmqLink present = link;
                    if (present != null) {
                        present.cut();
                    }
                });
        rest.forEach(Runnable::run); // each fails: the sink is closed
    }
}
