// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.BrokerModule;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigBinder;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.RuleConfig;
import io.smqtt.message.LogText;
import io.smqtt.message.ReasonCode;
import io.smqtt.rules.sink.SinkFactory;
import io.smqtt.rules.sink.SinkPublisher;
import io.smqtt.session.InProcess;
import io.smqtt.session.Session;
import io.smqtt.thread.AnyThread;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** The rules that operators have made. Changes are made one after the other, on a thread that exists while there are some. */
@AnyThread
final class LiveRules {

    private static final Logger LOG = LoggerFactory.getLogger(LiveRules.class);
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Duration FORMER = Duration.ofMinutes(1);
    private static final int IDLE_SECONDS = 10;
    private static final String PROBE = "probe";
    private static final String CONSUMERS = InProcess.PREFIX + InProcess.LOCAL + RuleAction.LIVE;

    private final Set<String> configured;
    private final Map<String, SinkFactory> types;
    private final SinkPublisher publisher;
    private final Map<String, Rule> rules = new ConcurrentSkipListMap<>();
    private final Map<String, Map<String, String>> early = new LinkedHashMap<>(); // on the thread
    private final Scheduler thread = Schedulers.fromExecutorService(executor());
    private Rule.@Nullable Surroundings surroundings; // on the thread
    private volatile Disposable former = Disposables.disposed();

    LiveRules(Set<String> configured, Map<String, SinkFactory> types, SinkPublisher publisher) {
        this.configured = configured;
        this.types = types;
        this.publisher = publisher;
    }

    private static ThreadPoolExecutor executor() {
        ThreadPoolExecutor executor =
                new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread made = new Thread(task, "smqtt-rule-changes");
                    made.setDaemon(true);
                    return made;
                });
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    List<Rule> all() {
        return List.copyOf(rules.values());
    }

    /** Reads a rule; null if it is switched off. */
    private static @Nullable RuleConfig read(String name, Map<String, String> keys) {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        String prefix = "rules." + name + ".";
        keys.forEach((key, text) -> values.put(prefix + key, new ConfigValue(text, "rule " + name, Path.of(""))));
        return ConfigBinder.bind(BrokerConfig.defaults(), values).rules().get(name);
    }

    private @Nullable Rule made(String name, Map<String, String> keys) {
        if (configured.contains(name)) {
            throw new ConfigurationException("rules." + name, "is in the configuration, and cannot be changed");
        }
        RuleConfig config = read(name, keys);
        return config == null ? null : Rule.of(name, config, types, publisher);
    }

    Mono<List<String>> check(String name, Map<String, String> keys) {
        return Mono.fromCallable(() -> {
                    try {
                        Rule rule = made(name, keys);
                        if (rule != null) {
                            rule.close();
                        }
                        return List.<String>of();
                    } catch (ConfigurationException e) {
                        return e.problems();
                    }
                })
                .subscribeOn(thread);
    }

    /** Makes a sink for the keys of an action, and closes it after its check. */
    Mono<String> probe(Map<String, String> keys) {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("sql", "SELECT * FROM \"" + PROBE + '"');
        keys.forEach((key, text) -> all.put("actions." + PROBE + '.' + key, text));
        all.put("actions." + PROBE + ".enabled", "true");
        return Mono.usingWhen(
                Mono.fromCallable(() -> Rule.of(PROBE, Objects.requireNonNull(read(PROBE, all)), types, publisher))
                        .subscribeOn(thread),
                rule -> rule.probe(PROBE),
                rule -> Mono.<Void>fromRunnable(rule::close).subscribeOn(Schedulers.boundedElastic()));
    }

    Mono<Void> put(String name, Map<String, String> keys) {
        return Mono.<Void>fromRunnable(() -> {
                    if (surroundings == null) {
                        early.put(name, keys);
                    } else {
                        replace(name, keys);
                    }
                })
                .subscribeOn(thread);
    }

    private void replace(String name, Map<String, String> keys) {
        Rule next = made(name, keys); // before the end of the former one
        Rule before = rules.remove(name);
        if (before != null) {
            before.close();
        }
        Rule.Surroundings of = surroundings;
        if (next != null && of != null) {
            next.open(of).block(PATIENCE);
            next.begin();
            rules.put(name, next);
        }
        if (before != null) {
            before.config().actions().keySet().stream()
                    .filter(action -> next == null || !next.config().actions().containsKey(action))
                    .forEach(action -> forget(name, action));
        }
    }

    Mono<Void> remove(String name) {
        return Mono.<Void>fromRunnable(() -> {
                    early.remove(name);
                    Rule before = rules.remove(name);
                    if (before != null) {
                        before.close();
                        before.config().actions().keySet().forEach(action -> forget(name, action));
                    }
                })
                .subscribeOn(thread);
    }

    private void forget(String name, String action) {
        Rule.Surroundings of = surroundings;
        if (of != null && of.stored()) {
            of.core()
                    .broker()
                    .removeConsumer(RuleAction.consumer(true, name, action))
                    .onErrorResume(error -> Mono.empty())
                    .block(PATIENCE);
        }
    }

    /** Begins with the rules that are known, when the broker runs. */
    void begin(Rule.Surroundings of) {
        thread.schedule(() -> {
            surroundings = of;
            early.forEach((name, keys) -> {
                try {
                    replace(name, keys);
                } catch (ConfigurationException e) {
                    LOG.warn("rule {} cannot be used: {}", name, e.getMessage());
                }
            });
            early.clear();
        });
        if (of.stored()) { // rules of other nodes arrive a moment after the start
            former = Schedulers.parallel()
                    .schedule(() -> thread.schedule(() -> endFormer(of.core())), FORMER.toSeconds(), TimeUnit.SECONDS);
        }
    }

    /** Ends the queues of rules that were deleted while this node was down. */
    private void endFormer(BrokerModule.Core core) {
        List<String> owned = new ArrayList<>();
        rules.values()
                .forEach(rule -> rule.config()
                        .actions()
                        .keySet()
                        .forEach(action -> owned.add(
                                InProcess.PREFIX + InProcess.LOCAL + RuleAction.consumer(true, rule.name(), action))));
        for (Session session : core.sessions().all()) {
            String id = session.id();
            if (id.startsWith(CONSUMERS) && !owned.contains(id)) {
                LOG.warn(
                        "{} was deleted: {} messages for it are discarded",
                        LogText.escape(id.substring(InProcess.PREFIX.length() + InProcess.LOCAL.length())),
                        session.queuedCount());
                session.execute(() -> session.terminate(ReasonCode.ADMINISTRATIVE_ACTION));
            }
        }
    }

    /** Ends all rules; their queues stay. Blocks. */
    void close() {
        former.dispose();
        thread.dispose();
        rules.values().forEach(Rule::close);
    }
}
