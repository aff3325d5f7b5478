// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.rabbitmq;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Delivery;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.ShutdownSignalException;
import io.smqtt.config.ConfigurationException;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.SourceContext;
import io.smqtt.rules.sink.SourceLag;
import io.smqtt.rules.sink.SourceOutput;
import io.smqtt.rules.sink.SourceRuns;
import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Schedulers;

/**
 * A consumer: publishes the messages that the server delivers, in their order, and acknowledges those that are stored. The server delivers as many
 * messages as may be in flight; those that arrive while the source is paused wait here. At the end of the run the server has those again that are not
 * acknowledged.
 */
final class QueueRun implements SourceRuns.Run {

    private static final long POLL_MILLIS = 200;
    private static final long PAUSE_MILLIS = 5;
    private static final Duration LAG = Duration.ofSeconds(5);
    private static final long SETTLED_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long LAST_ANSWERS_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long CUT_MILLIS = 2_000;

    /** An event of another thread. */
    private sealed interface Event {

        /** A message has arrived. */
        record Arrived(Delivery delivery) implements Event {}

        /** A message is stored, or is refused for ever, or could not be stored. */
        record Answered(long tag, boolean stored, @Nullable Throwable error) implements Event {}

        /** The server delivers no more messages. */
        record Ended(SinkException reason) implements Event {}
    }

    private final RabbitmqLink link;
    private final SourceOutput out;
    private final String queue;
    private final int window;
    private final long mostBytes;
    private final BlockingQueue<Event> events = new LinkedBlockingQueue<>(); // at most two for each message in flight
    private volatile boolean ended;

    // on the thread of the run
    private final Queue<Delivery> waiting = new ArrayDeque<>();
    private final SettledTags tags = new SettledTags();
    private @Nullable Throwable failure;
    private boolean works;
    private final SourceLag lag;
    private @Nullable Channel counting;

    QueueRun(SourceContext context, RabbitmqServers servers, SourceOutput out) {
        this.link = new RabbitmqLink(servers, null);
        this.out = out;
        this.lag = new SourceLag(out, LAG, System::nanoTime);
        this.queue = context.settings().text(RabbitmqSourceFactory.QUEUE);
        this.window = context.config().inflight();
        this.mostBytes = context.settings().bytes(RabbitmqSourceFactory.MESSAGE_BYTES);
    }

    @Override
    @AnyThread
    public void end() {
        ended = true;
        events.add(new Event.Ended(new SinkException("the source is stopped", true)));
        Schedulers.boundedElastic().schedule(link::cut, CUT_MILLIS, TimeUnit.MILLISECONDS);
    }

    @Override
    public void read() throws InterruptedException {
        try {
            if (!ended) {
                link.open();
                consume(link.consumingChannel(window));
            }
        } catch (IOException | ShutdownSignalException | ConfigurationException e) {
            throw RabbitmqFailure.of(e, false);
        } finally {
            link.cut();
        }
    }

    private void consume(Channel channel) throws IOException, InterruptedException {
        String consumer = channel.basicConsume(queue, false, new Deliveries(channel));
        long began = System.nanoTime();
        while (!ended && failure == null) {
            pass(channel);
            report(System.nanoTime() - began > SETTLED_NANOS);
            lag.tell(this::waitingInQueue);
        }
        channel.basicCancel(consumer);
        finish(channel);
        link.quit();
        if (failure != null) {
            throw new SinkException(String.valueOf(failure.getMessage()), true);
        }
    }

    private void pass(Channel channel) throws IOException, InterruptedException {
        Event event = events.poll(waiting.isEmpty() ? POLL_MILLIS : PAUSE_MILLIS, TimeUnit.MILLISECONDS);
        while (event != null) {
            if (event instanceof Event.Arrived arrived) {
                arrived(channel, arrived.delivery());
            } else if (event instanceof Event.Answered answered) {
                answered(channel, answered);
            } else if (event instanceof Event.Ended last && !ended) {
                throw last.reason();
            }
            event = events.poll();
        }
        publish();
        acknowledge(channel);
    }

    private void arrived(Channel channel, Delivery delivery) throws IOException {
        long tag = delivery.getEnvelope().getDeliveryTag();
        tags.add(tag);
        if (delivery.getBody().length > mostBytes) {
            out.rejected("a message larger than " + RabbitmqSourceFactory.MESSAGE_BYTES);
            reject(channel, tag);
        } else {
            waiting.add(delivery);
        }
    }

    private void publish() {
        while (!waiting.isEmpty() && !ended && failure == null && !out.isPaused()) {
            Delivery delivery = waiting.remove();
            long tag = delivery.getEnvelope().getDeliveryTag();
            out.publish(DeliveryColumns.of(delivery))
                    .subscribe(
                            stored -> events.add(new Event.Answered(tag, stored, null)),
                            error -> events.add(new Event.Answered(tag, false, error)));
        }
    }

    private void answered(Channel channel, Event.Answered answer) throws IOException {
        if (answer.stored()) {
            tags.stored(answer.tag());
        } else if (answer.error() == null) {
            reject(channel, answer.tag());
        } else if (failure == null) {
            failure = answer.error(); // its message comes again with the next run
        }
    }

    /** Gives a message up that can never be published. The server drops it, or hands it to the dead-letter exchange of the queue. */
    private void reject(Channel channel, long tag) throws IOException {
        channel.basicReject(tag, false);
        tags.rejected(tag);
    }

    private void acknowledge(Channel channel) throws IOException {
        long tag = tags.take();
        if (tag > 0) {
            channel.basicAck(tag, true);
            report(true);
        }
    }

    /** On a channel of its own, which the server ends if it does not say it. */
    private OptionalLong waitingInQueue() throws IOException {
        Channel channel = counting;
        if (channel == null || !channel.isOpen()) {
            channel = link.consumingChannel(1);
            counting = channel;
        }
        return OptionalLong.of(channel.messageCount(queue));
    }

    private void report(boolean isSettled) {
        if (!works && isSettled) {
            works = true;
            out.working();
        }
    }

    /** Waits a moment for the messages in flight, and acknowledges all that are stored, also those behind others that are not. */
    private void finish(Channel channel) throws IOException, InterruptedException {
        long began = System.nanoTime();
        while (tags.open() > waiting.size() && System.nanoTime() - began < LAST_ANSWERS_NANOS) {
            Event event = events.poll(PAUSE_MILLIS, TimeUnit.MILLISECONDS);
            if (event instanceof Event.Answered answered) {
                answered(channel, answered);
            }
        }
        for (long tag : tags.allStored()) {
            channel.basicAck(tag, false);
        }
    }

    /** Hands what is delivered to the thread of the run. */
    private final class Deliveries extends DefaultConsumer {

        Deliveries(Channel channel) {
            super(channel);
        }

        @Override
        @AnyThread
        public void handleDelivery(String consumer, Envelope envelope, BasicProperties properties, byte[] body) {
            events.add(new Event.Arrived(new Delivery(envelope, properties, body)));
        }

        @Override
        @AnyThread
        public void handleCancel(String consumer) {
            events.add(new Event.Ended(new SinkException(
                    "the server has ended the consumer of queue " + queue + ": it is deleted, or on another node",
                    true)));
        }

        @Override
        @AnyThread
        public void handleShutdownSignal(String consumer, ShutdownSignalException signal) {
            events.add(new Event.Ended(RabbitmqFailure.of(signal, false)));
        }
    }
}
