// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.ClientIdentity;
import reactor.core.publisher.Mono;

/** Authorizes by the rules of an ACL file, which can be replaced while the broker runs. */
final class AclFileAuthorizer implements DirectAuthorizer {

    private volatile Rules current;

    AclFileAuthorizer(AclFile file) {
        current = new Rules(file, 0);
    }

    /** Replaces the rules. One thread at a time. */
    void replace(AclFile file) {
        current = new Rules(file, current.generation + 1);
    }

    @Override
    public Mono<AccessDecision> authorize(
            ClientIdentity client, AccessAction action, String topic, QoS qos, boolean retain) {
        return current.file.decide(client, action, topic).now();
    }

    @Override
    public long generation() {
        return current.generation;
    }

    /**
     * Always true, even if no rule denies a part of what other rules allow: a session asks only once, and a reload can add such a rule at any
     * time.
     */
    @Override
    public boolean checksDeliveries() {
        return true;
    }

    private record Rules(AclFile file, long generation) {}
}
