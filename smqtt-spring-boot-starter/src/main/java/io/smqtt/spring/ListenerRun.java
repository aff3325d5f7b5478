// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.Broker;
import io.smqtt.BrokerClosedException;
import io.smqtt.ConsumerEndedException;
import io.smqtt.ConsumerOptions;
import io.smqtt.ReceivedMessage;
import io.smqtt.message.ReasonCode;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.util.retry.Retry;

/** The subscriptions and calls of listener methods while one broker runs. Any thread. */
final class ListenerRun {

    private static final Logger LOG = LoggerFactory.getLogger(ListenerRun.class);
    private static final Duration FIRST_RETRY = Duration.ofSeconds(1);
    private static final Duration LAST_RETRY = Duration.ofMinutes(1);
    private static final int DOUBLINGS = 6; // from the first to more than the last

    private final Broker broker;
    private final Scheduler scheduler;
    private final Disposable.Composite subscriptions = Disposables.composite();
    private final AtomicInteger running = new AtomicInteger(); // calls
    private final Sinks.Empty<Void> idle = Sinks.empty();
    private volatile boolean stopping;
    private volatile boolean over;

    ListenerRun(Broker broker, Scheduler scheduler) {
        this.broker = broker;
        this.scheduler = scheduler;
    }

    Scheduler scheduler() {
        return scheduler;
    }

    /** {@return whether nothing waits for calls any more, so that their failures say nothing of messages} */
    boolean isOver() {
        return over;
    }

    /**
     * Subscribes a method, and again with growing pauses if the broker refuses or ends the subscription.
     *
     * @param call a message to its end; an error if it is to be tried again
     * @return completes when the method has its subscription
     */
    Mono<Void> subscribe(ListenerMethod method, Function<ReceivedMessage, Mono<Void>> call) {
        Sinks.Empty<Void> subscribed = Sinks.empty();
        AtomicInteger refusals = new AtomicInteger(); // since it last had one
        ConsumerOptions options = method.options().whenSubscribed(() -> {
            refusals.set(0);
            method.setActive(true);
            subscribed.tryEmitEmpty();
        });
        Retry again = Retry.from(
                signals -> signals.concatMap(signal -> pause(method, signal.failure(), refusals.getAndIncrement())));
        subscriptions.add(broker.receive(method.pattern().text(), options)
                .flatMap(message -> untilDone(call.apply(message)), method.concurrency(), 1)
                .doFinally(signal -> method.setActive(false))
                .retryWhen(again)
                .onErrorComplete(BrokerClosedException.class)
                .subscribe(done -> {}, error -> LOG.error("{} receives no more messages", method.name(), error)));
        return subscribed.asMono();
    }

    private Mono<Long> pause(ListenerMethod method, Throwable error, int refusalsBefore) {
        Duration pause = FIRST_RETRY.multipliedBy(1L << Math.min(refusalsBefore, DOUBLINGS));
        if (error instanceof BrokerClosedException) {
            return Mono.error(error);
        } else if (error instanceof ConsumerEndedException ended) {
            if (ended.reason() == ReasonCode.SERVER_SHUTTING_DOWN) {
                return Mono.error(error);
            } else if (ended.reason() == ReasonCode.SESSION_TAKEN_OVER) { // by another replica, which may go away
                pause = LAST_RETRY;
            }
        }
        Duration taken = pause.compareTo(LAST_RETRY) > 0 ? LAST_RETRY : pause;
        LOG.warn(
                "{} receives no messages, next attempt in {} s: {}",
                method.name(),
                taken.toSeconds(),
                error.toString());
        return Mono.delay(taken);
    }

    /** The message is tried again, and not the subscription, so that calls beside it go on. */
    private Mono<Void> untilDone(Mono<Void> call) {
        return Mono.defer(() -> admitted(call))
                .retryWhen(Retry.backoff(Long.MAX_VALUE, FIRST_RETRY).maxBackoff(LAST_RETRY));
    }

    private Mono<Void> admitted(Mono<Void> call) {
        running.incrementAndGet();
        if (stopping) {
            left();
            return Mono.never(); // unacknowledged
        }
        return call.doFinally(signal -> left());
    }

    private void left() {
        if (running.decrementAndGet() == 0 && stopping) {
            idle.tryEmitEmpty();
        }
    }

    /** Lets no call begin, and waits for those that run, with what they acknowledge; not longer than told. */
    Mono<Void> quiesce(Duration patience) {
        return Mono.defer(() -> {
            stopping = true;
            if (running.get() == 0) {
                idle.tryEmitEmpty();
            }
            return idle.asMono()
                    .timeout(patience, Mono.fromRunnable(this::tellOfLateCalls))
                    .doFinally(signal -> over = true);
        });
    }

    private void tellOfLateCalls() {
        LOG.warn("{} calls of listener methods have not ended in time, their messages are not acknowledged", running);
    }

    void dispose() {
        over = true;
        subscriptions.dispose();
        scheduler.dispose();
    }
}
