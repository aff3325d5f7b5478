// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.thread.AnyThread;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * The messages of a topic filter, which also tells when the subscription stands. Each subscriber of the Flux has a
 * subscription of its own.
 *
 * <pre>{@code
 * import io.smqtt.Broker;
 * import io.smqtt.ConsumerOptions;
 * import io.smqtt.MessageFlux;
 * import io.smqtt.ReceivedMessage;
 *
 * static void countJobs(Broker broker) {
 *     MessageFlux<ReceivedMessage> jobs = broker.receive("jobs/#", ConsumerOptions.DEFAULTS);
 *     jobs.subscribe(ReceivedMessage::acknowledge);
 *     jobs.ready().block(); // what is published from now on is received
 * }
 * }</pre>
 *
 * @param <T> {@link io.smqtt.message.ApplicationMessage} or {@link ReceivedMessage}
 */
@AnyThread
public final class MessageFlux<T> extends Flux<T> {

    private final Flux<T> messages;
    private final Sinks.Empty<Void> ready;

    /**
     * Creates a Flux.
     *
     * @param messages where the messages come from
     * @param ready ends when the first subscription of these stands, or will not
     */
    MessageFlux(Flux<T> messages, Sinks.Empty<Void> ready) {
        this.messages = messages;
        this.ready = ready;
    }

    @Override
    public void subscribe(CoreSubscriber<? super T> actual) {
        messages.subscribe(actual);
    }

    /**
     * Tells when the subscription of the first subscriber stands: a message that is published on this node from then on is received.
     * Waits until there is a subscriber; to subscribe to this Mono subscribes to no messages, and to cancel it ends none.
     *
     * @return completes, maybe on an event loop, when the subscription stands, and is stored if the consumer is durable; fails with what the
     *     first subscriber fails with, or with a {@link java.util.concurrent.CancellationException} if it cancels before
     */
    public Mono<Void> ready() {
        return ready.asMono();
    }
}
