// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.chain;

import io.smqtt.access.RuleList;
import io.smqtt.access.backend.AccessRule;
import io.smqtt.access.backend.AccessRules;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.ClientRules;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.List;

/** The rules of one client: those that came with its authentication, then those of the backends, which can be replaced. */
@AnyThread
final class FetchedRules implements ClientRules {

    private final BackendRequest request;
    private final List<AccessRule> own;
    private volatile Content content;
    private int fetches; // guarded by this

    /**
     * Compiles rules.
     *
     * @throws IllegalArgumentException if they cannot be used
     */
    FetchedRules(BackendRequest request, List<AccessRule> own, List<MemberRules> fetched) {
        this.request = request;
        this.own = List.copyOf(own);
        this.content = compile(fetched);
    }

    private record Content(List<MemberRules> fetched, RuleList compiled) {}

    /** The client, without its password. */
    BackendRequest request() {
        return request;
    }

    /** The rules of each backend that is asked about the client, in the order of the chain. */
    List<MemberRules> fetched() {
        return content.fetched;
    }

    /** Whether each backend has been asked with success. */
    boolean isComplete() {
        return content.fetched.stream().allMatch(MemberRules::isKnown);
    }

    /** The number of a fetch that begins now: answers to earlier ones do not count any more. */
    synchronized int beginFetch() {
        return ++fetches;
    }

    /**
     * Replaces the rules of the backends.
     *
     * @param fetch the number of the fetch
     * @return false if they are the same, or older than those of a fetch that began later
     * @throws IllegalArgumentException if they cannot be used; the former ones stay in force
     */
    synchronized boolean replaceFetched(int fetch, List<MemberRules> fetched) {
        if (fetch != fetches || fetched.equals(content.fetched)) {
            return false;
        }
        content = compile(fetched);
        return true;
    }

    private Content compile(List<MemberRules> fetched) {
        List<AccessRule> all = new ArrayList<>(own);
        fetched.forEach(each -> all.addAll(each.rules()));
        return new Content(List.copyOf(fetched), AccessRules.compile(all, request));
    }

    @Override
    public AccessDecision decide(ClientIdentity client, AccessAction action, String topic, QoS qos, boolean retain) {
        return content.compiled.decide(client, action, topic, qos, retain);
    }
}
