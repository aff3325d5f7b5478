// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.rule;

import io.smqtt.BrokerModule;
import io.smqtt.admin.object.LiveObject;
import io.smqtt.admin.object.LiveObjects;
import io.smqtt.admin.object.ObjectKind;
import io.smqtt.admin.object.ObjectLimits;
import io.smqtt.admin.object.ObjectWatcher;
import io.smqtt.spi.Rules;
import io.smqtt.thread.AnyThread;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/** The rules that operators have made, on all nodes: each node begins and ends its own. */
@AnyThread
public final class RuleObjects implements BrokerModule {

    private static final Logger LOG = LoggerFactory.getLogger(RuleObjects.class);
    private static final ObjectLimits LIMITS = new ObjectLimits(100, 64 << 10, 4 << 20);

    private final ObjectKind<LiveRule> kind;

    /**
     * Creates the part of a node.
     *
     * @param objects keeps what operators have made
     */
    public RuleObjects(LiveObjects objects) {
        kind = objects.kind("rule", LiveRule.FORMAT, LIMITS);
    }

    ObjectKind<LiveRule> kind() {
        return kind;
    }

    @Override
    public Mono<Void> start(Core core) {
        return Mono.fromRunnable(() -> {
            Rules rules = core.rules();
            if (rules == null) {
                return; // a broker of an application without the module
            }
            kind.watch(new ObjectWatcher<>() {

                @Override
                public void changed(LiveObject<LiveRule> object) {
                    rules.put(object.id(), object.value().keys())
                            .subscribe(
                                    done -> {},
                                    error -> LOG.warn("rule {} cannot be used: {}", object.id(), error.getMessage()));
                }

                @Override
                public void removed(String id) {
                    rules.remove(id).subscribe(done -> {}, error -> LOG.warn("rule {} was not ended", id, error));
                }
            });
        });
    }

    @Override
    public Mono<Void> stop() {
        return Mono.empty();
    }
}
