// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.chain;

import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.CertificateNames;
import io.smqtt.access.backend.TopicRequest;
import io.smqtt.access.guard.BackendBusyException;
import io.smqtt.access.guard.ClientRefusedException;
import io.smqtt.log.LogLimiter;
import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.AccessRequest;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Asks the backends that decide about topics. It exists also where backends only have rules: what no rule allows is then denied, as with an
 * ACL file.
 */
@AnyThread
final class ChainAuthorizer implements Authorizer {

    private static final Logger LOG = LoggerFactory.getLogger(ChainAuthorizer.class);

    /** The time for an action, less than what the broker waits for an authorizer. */
    private static final Duration DEADLINE = Duration.ofSeconds(25);

    private final List<Member> members;
    private final Scheduler timers;
    private final LogLimiter lines = new LogLimiter(LOG, Level.WARN, 1);
    private final AtomicLong generation = new AtomicLong();

    ChainAuthorizer(List<Member> members) {
        this(members, Schedulers.parallel());
    }

    ChainAuthorizer(List<Member> members, Scheduler timers) {
        this.timers = timers;
        this.members = members.stream().filter(Member::decidesTopics).toList();
    }

    /** The rules of clients, or answers, have changed: cached decisions are requested again. */
    void changed() {
        generation.incrementAndGet();
    }

    @Override
    public long generation() {
        return generation.get();
    }

    /** False: a granted subscription is enough. Deliveries to clients with rules are checked by these. */
    @Override
    public boolean checksDeliveries() {
        return false;
    }

    @Override
    public Mono<AccessDecision> authorize(AccessRequest request) {
        return authorize(request.client(), request.action(), request.topic(), request.qos(), request.retain());
    }

    @Override
    public Mono<AccessDecision> authorize(
            ClientIdentity client, AccessAction action, String topic, QoS qos, boolean retain) {
        return members.isEmpty()
                ? AccessDecision.CONTINUE.now()
                : ask(0, client, action, topic, qos, retain, nanos() + DEADLINE.toNanos());
    }

    private long nanos() {
        return timers.now(TimeUnit.NANOSECONDS);
    }

    private Mono<AccessDecision> ask(
            int first,
            ClientIdentity client,
            AccessAction action,
            String topic,
            QoS qos,
            boolean retain,
            long untilNanos) {
        for (int i = first; i < members.size(); i++) {
            Member member = members.get(i);
            if (!member.decidesTopics(client.userName())) {
                continue;
            }
            if (action == AccessAction.RECEIVE) {
                return AccessDecision.ALLOW.now();
            }
            int next = i + 1;
            TopicRequest request =
                    new TopicRequest(BackendRequest.of(client, CertificateNames.NONE), action, topic, qos, retain);
            Duration rest = Duration.ofNanos(Math.max(1, untilNanos - nanos()));
            return member.authorize(request)
                    .timeout(rest, Mono.defer(() -> late(member)), timers)
                    .onErrorResume(error -> failed(member, error).now())
                    .flatMap(decision -> decision == AccessDecision.CONTINUE
                            ? ask(next, client, action, topic, qos, retain, untilNanos)
                            : Mono.just(decision));
        }
        return AccessDecision.CONTINUE.now();
    }

    /** The time of the action is over, so no other backend is asked. */
    private Mono<AccessDecision> late(Member member) {
        if (lines.allows(member.name())) {
            LOG.warn(
                    "backend {}: no decision on a topic within {} s, the action is denied",
                    member.name(),
                    DEADLINE.toSeconds());
        }
        return AccessDecision.DENY.now();
    }

    /** The next backend is asked only if this one fails: not for what the client has sent, and not if too many requests wait. */
    private static AccessDecision failed(Member member, Throwable error) {
        boolean fails = !(error instanceof ClientRefusedException)
                && !(error instanceof BackendBusyException busy && !busy.isDown());
        return fails && member.goesOnAfterFailure() ? AccessDecision.CONTINUE : AccessDecision.DENY;
    }
}
