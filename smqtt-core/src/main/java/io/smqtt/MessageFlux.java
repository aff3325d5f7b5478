// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.thread.AnyThread;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * The messages of a topic filter, with a signal when the subscription is active. Each subscriber of the Flux has its own
 * subscription.
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
     * @param messages the source of the messages
     * @param ready terminates when the first subscription is active, or has failed
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
     * Signals that the subscription of the first subscriber is active: messages that are published on this node from then on are
     * received. Subscribing to this Mono does not subscribe to messages, and cancelling it does not end a subscription.
     *
     * @return completes, possibly on an event loop, when the subscription is active, and stored if the consumer is durable. Fails
     *     with the error of the first subscriber, or with a {@link java.util.concurrent.CancellationException} if that cancels
     *     before
     */
    public Mono<Void> ready() {
        return ready.asMono();
    }
}
