// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

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
import io.smqtt.spi.RuleStatus;
import io.smqtt.thread.AnyThread;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The rules that operators have made. */
@AnyThread
final class LiveRules {

    private static final Logger LOG = LoggerFactory.getLogger(LiveRules.class);
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Duration FORMER = Duration.ofMinutes(1);
    private static final String PROBE = "probe";
    private static final Pattern ACTION_TYPE = Pattern.compile("actions\\.([^.]+)\\.type");
    private static final String CONSUMERS = InProcess.PREFIX + InProcess.LOCAL + RuleAction.LIVE;

    private final Map<String, RuleConfig> configured;
    private final Map<String, SinkFactory> types;
    private final SinkPublisher publisher;
    private final @Nullable Path folder;
    private final Duration patience;
    private final Map<String, Rule> rules = new ConcurrentSkipListMap<>();
    private final Map<String, Map<String, String>> early = new LinkedHashMap<>(); // on the thread of changes
    private final Map<String, Map<String, String>> broken =
            new LinkedHashMap<>(); // on the thread of changes: keys that exist and could not be used
    private final Map<String, Unusable> unusable = new ConcurrentSkipListMap<>(); // of those
    private final Changes changes = new Changes("smqtt-rule-changes", this::tryAgain);
    private Rule.@Nullable Surroundings surroundings; // on the thread of changes
    private boolean ended; // guarded by this
    private volatile Disposable former = Disposables.disposed();

    /** With the folder of dead letters, which is null without a store. */
    LiveRules(
            Map<String, RuleConfig> configured,
            Map<String, SinkFactory> types,
            SinkPublisher publisher,
            @Nullable Path folder) {
        this(configured, types, publisher, folder, PATIENCE);
    }

    /** With the longest time for which a change waits for the broker. */
    LiveRules(
            Map<String, RuleConfig> configured,
            Map<String, SinkFactory> types,
            SinkPublisher publisher,
            @Nullable Path folder,
            Duration patience) {
        this.folder = folder;
        this.patience = patience;
        this.configured = configured;
        this.types = types;
        this.publisher = publisher;
    }

    List<Rule> all() {
        return List.copyOf(rules.values());
    }

    /**
     * The rules, and those that exist and cannot be used on this node, whose actions have the reason. A rule whose last change cannot be used runs as it
     * was before, and its actions have that reason.
     */
    List<RuleStatus> status() {
        Map<String, RuleStatus> all = new TreeMap<>();
        unusable.forEach((name, unused) -> all.put(name, unused.status()));
        rules.forEach((name, rule) -> {
            Unusable change = unusable.get(name);
            all.put(name, change == null ? rule.status() : withReason(rule.status(), change.reason()));
        });
        return List.copyOf(all.values());
    }

    private static RuleStatus withReason(RuleStatus running, String reason) {
        return new RuleStatus(
                running.name(),
                running.sql(),
                running.description(),
                running.sources(),
                running.actions().stream()
                        .map(action -> new RuleStatus.Action(
                                action.name(),
                                action.type(),
                                "the former rule runs, its last change cannot be used here: " + reason,
                                action.counts()))
                        .toList());
    }

    /** A change that cannot be used: the rule as it should be, and the reason. */
    private record Unusable(RuleStatus status, String reason) {}

    private static Unusable unusable(String name, Map<String, String> keys, Throwable problem) {
        String reason = problem instanceof ConfigurationException known
                ? String.join("; ", known.problems())
                : problem instanceof LinkageError
                        ? "an extension does not fit this broker: " + problem
                        : String.valueOf(problem.getMessage());
        List<RuleStatus.Action> actions = new ArrayList<>();
        keys.forEach((key, type) -> {
            Matcher action = ACTION_TYPE.matcher(key);
            if (action.matches()) {
                actions.add(new RuleStatus.Action(action.group(1), type, reason, new RuleCounts().snapshot(0, 0)));
            }
        });
        return new Unusable(
                new RuleStatus(
                        name, keys.getOrDefault("sql", ""), keys.getOrDefault("description", ""), List.of(), actions),
                reason);
    }

    /** After a change: rules that could not be made may be possible now, because a file is free. */
    private void tryAgain() {
        Map.copyOf(broken)
                .forEach((name, keys) -> changes.add(
                        () -> keys.equals(broken.get(name))
                                ? replace(name, keys).doOnSuccess(done -> LOG.info("rule {} can be used now", name))
                                : Mono.empty(),
                        error -> LOG.debug("rule {} still cannot be used: {}", name, error.getMessage())));
    }

    /** Reads a rule; null if it is switched off. */
    private static @Nullable RuleConfig read(String name, Map<String, String> keys) {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        String prefix = "rules." + name + ".";
        keys.forEach((key, text) -> values.put(prefix + key, new ConfigValue(text, "rule " + name, Path.of(""))));
        return ConfigBinder.bind(BrokerConfig.defaults(), values).rules().get(name);
    }

    private @Nullable Rule made(String name, Map<String, String> keys) {
        if (configured.containsKey(name)) {
            throw new ConfigurationException("rules." + name, "is in the configuration, and cannot be changed");
        }
        RuleConfig config = read(name, keys);
        if (config == null) {
            return null;
        }
        Map<String, RuleConfig> all = new LinkedHashMap<>(configured);
        rules.forEach((other, rule) -> all.put(other, rule.config()));
        all.remove(name);
        all.put(name, config);
        List<String> problems = WrittenFiles.problems(all, types, folder);
        if (!problems.isEmpty()) {
            throw new ConfigurationException(problems);
        }
        return Rule.of(name, config, types, publisher);
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
                .subscribeOn(changes.thread());
    }

    /** Makes a sink for the keys of an action, and closes it after its check. */
    Mono<String> probe(Map<String, String> keys) {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("sql", "SELECT * FROM \"" + PROBE + '"');
        keys.forEach((key, text) -> all.put("actions." + PROBE + '.' + key, text));
        all.put("actions." + PROBE + ".enabled", "true");
        return Mono.usingWhen(
                Mono.fromCallable(() -> Rule.of(PROBE, Objects.requireNonNull(read(PROBE, all)), types, publisher))
                        .subscribeOn(changes.thread()),
                rule -> rule.probe(PROBE),
                rule -> Mono.<Void>fromRunnable(rule::close).subscribeOn(Schedulers.boundedElastic()));
    }

    Mono<Void> put(String name, Map<String, String> keys) {
        return changes.change(() -> {
            if (surroundings == null) {
                early.put(name, keys);
                return Mono.empty();
            }
            return replace(name, keys);
        });
    }

    private Mono<Void> replace(String name, Map<String, String> keys) {
        Rule next;
        try {
            next = made(name, keys); // before the end of the former one
        } catch (RuntimeException | LinkageError e) { // of an extension
            if (!configured.containsKey(name)) {
                broken.put(name, keys);
                unusable.put(name, unusable(name, keys, e));
            }
            throw e;
        }
        unusable.remove(name);
        boolean hadQueues = broken.remove(name) != null;
        Rule before = rules.remove(name);
        if (before != null) {
            before.close();
            hadQueues = true;
        }
        Rule.Surroundings of = surroundings;
        Map<String, RuleCounts> counts = before == null ? Map.of() : before.counts();
        Mono<Void> begun = next == null || of == null ? Mono.empty() : begun(next, of, counts);
        if (!hadQueues) {
            return begun;
        }
        List<String> former = queues(name, before).stream()
                .filter(action -> next == null || !next.config().actions().containsKey(action))
                .toList();
        return begun.then(forget(name, former));
    }

    /** Begins a rule. Its actions take messages as soon as they are subscribed, which is not awaited for longer than the patience. */
    private Mono<Void> begun(Rule rule, Rule.Surroundings of, Map<String, RuleCounts> former) {
        Mono<Void> open = null;
        synchronized (this) { // the broker does not begin to stop in between
            rules.put(rule.name(), rule);
            if (!ended) {
                open = rule.open(of, former);
                rule.begin();
            }
        }
        if (open == null) {
            rule.close();
            return Mono.empty();
        }
        return open.timeout(patience).onErrorResume(TimeoutException.class, late -> {
            LOG.warn(
                    "rule {}: the broker has not subscribed it within {}; it begins when that is done",
                    rule.name(),
                    patience);
            return Mono.empty();
        });
    }

    Mono<Void> remove(String name) {
        return changes.change(() -> {
            early.remove(name);
            broken.remove(name);
            unusable.remove(name);
            Rule before = rules.remove(name);
            if (before != null) {
                before.close();
            }
            return forget(name, List.copyOf(queues(name, before)));
        });
    }

    /** Completes when the changes before it have been made, or have failed. */
    Mono<Void> settled() {
        return changes.change(Mono::empty);
    }

    /** The actions of a rule that have queues here: those of the rule before, and of former ones that could not be begun. */
    private Set<String> queues(String name, @Nullable Rule before) {
        Set<String> actions = new LinkedHashSet<>(
                before == null ? Set.of() : before.config().actions().keySet());
        Rule.Surroundings of = surroundings;
        String prefix = CONSUMERS + name + ':';
        if (of != null) {
            of.core().sessions().all().stream()
                    .map(Session::id)
                    .filter(id -> id.startsWith(prefix))
                    .forEach(id -> actions.add(id.substring(prefix.length())));
        }
        return actions;
    }

    private Mono<Void> forget(String name, List<String> actions) {
        Rule.Surroundings of = surroundings;
        if (of == null || !of.stored()) {
            return Mono.empty();
        }
        return Flux.fromIterable(actions)
                .concatMap(action -> of.core()
                        .broker()
                        .removeConsumer(RuleAction.consumer(true, name, action))
                        .timeout(patience)
                        .onErrorResume(error -> {
                            LOG.warn("rule {}: the queue of its action {} could not be removed", name, action, error);
                            return Mono.empty();
                        }))
                .then();
    }

    /** Begins with the rules that are known, when the broker runs. */
    void begin(Rule.Surroundings of) {
        changes.thread().schedule(() -> {
            surroundings = of;
            Map<String, Map<String, String>> known = new LinkedHashMap<>(early);
            early.clear();
            changes.first(() -> known.forEach((name, keys) -> changes.add(
                    () -> replace(name, keys),
                    error -> LOG.warn("rule {} cannot be used, its queues stay: {}", name, error.getMessage()))));
        });
        if (of.stored()) { // rules of other nodes arrive a moment after the start
            former = Schedulers.parallel()
                    .schedule(() -> endFormer(of).subscribe(), FORMER.toSeconds(), TimeUnit.SECONDS);
        }
    }

    /** Ends the queues of rules that were deleted while this node was down. Those of a rule that cannot be made stay. */
    Mono<Void> endFormer(Rule.Surroundings of) {
        return changes.change(() -> Mono.fromRunnable(() -> of.core().sessions().all().stream()
                .filter(session -> session.id().startsWith(CONSUMERS)
                        && !isOwned(session.id().substring(CONSUMERS.length())))
                .forEach(LiveRules::end)));
    }

    private boolean isOwned(String consumer) {
        int colon = consumer.indexOf(':');
        String name = consumer.substring(0, Math.max(0, colon));
        Rule rule = rules.get(name);
        return broken.containsKey(name)
                || (rule != null && rule.config().actions().containsKey(consumer.substring(colon + 1)));
    }

    private static void end(Session session) {
        LOG.warn(
                "{} was deleted: {} messages for it are discarded",
                LogText.escape(session.id().substring(InProcess.PREFIX.length() + InProcess.LOCAL.length())),
                session.queuedCount());
        session.execute(() -> session.terminate(ReasonCode.ADMINISTRATIVE_ACTION));
    }

    /** Ends all rules; their queues stay. Blocks. */
    void close() {
        synchronized (this) {
            ended = true;
        }
        former.dispose();
        changes.close();
        rules.values().forEach(Rule::close);
    }
}
