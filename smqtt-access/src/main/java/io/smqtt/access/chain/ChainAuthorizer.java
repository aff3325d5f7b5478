// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.chain;

import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.CertificateNames;
import io.smqtt.access.backend.TopicRequest;
import io.smqtt.access.guard.ClientRefusedException;
import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.AccessRequest;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.thread.AnyThread;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.publisher.Mono;

/**
 * Asks the backends that decide about topics. It exists also where backends only have rules: what no rule allows is then denied, as with an
 * ACL file.
 */
@AnyThread
final class ChainAuthorizer implements Authorizer {

    private final List<Member> members;
    private final AtomicLong generation = new AtomicLong();

    ChainAuthorizer(List<Member> members) {
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
        return members.isEmpty() ? AccessDecision.CONTINUE.now() : ask(0, client, action, topic, qos, retain);
    }

    private Mono<AccessDecision> ask(
            int first, ClientIdentity client, AccessAction action, String topic, QoS qos, boolean retain) {
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
            return member.authorize(request)
                    .onErrorReturn(ClientRefusedException.class, AccessDecision.DENY)
                    .onErrorReturn(member.goesOnAfterFailure() ? AccessDecision.CONTINUE : AccessDecision.DENY)
                    .flatMap(decision -> decision == AccessDecision.CONTINUE
                            ? ask(next, client, action, topic, qos, retain)
                            : Mono.just(decision));
        }
        return AccessDecision.CONTINUE.now();
    }
}
