// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.Broker;
import io.smqtt.BrokerModule;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.RuleEngineConfig;
import io.smqtt.config.StorageConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.LogText;
import io.smqtt.rules.sink.SinkFactory;
import io.smqtt.rules.sink.SinkPublisher;
import io.smqtt.rules.sql.RuleBudget;
import io.smqtt.session.InProcess;
import io.smqtt.session.Session;
import io.smqtt.spi.ActionType;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.RuleStatus;
import io.smqtt.spi.Rules;
import io.smqtt.thread.AnyThread;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The rules of one broker. */
@AnyThread
final class RulesModule implements BrokerModule, Rules {

    private static final Logger LOG = LoggerFactory.getLogger(RulesModule.class);
    private static final String ALONE = "smqtt";
    private static final String CONSUMERS = InProcess.PREFIX + InProcess.LOCAL + RuleAction.CONFIGURED;

    private final BrokerConfig config;
    private final List<Rule> rules;
    private final LiveRules live;
    private final List<ActionType> types;
    private final SinkPublisher publisher = new ToBroker();
    private volatile @Nullable Core core;
    private volatile @Nullable RuleThreads threads;
    private volatile Rule.@Nullable Surroundings around;

    private RulesModule(BrokerConfig config, List<SinkFactory> more) {
        this.config = config;
        Map<String, SinkFactory> factories = SinkTypes.find(more);
        List<Rule> made = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        config.rules().forEach((name, rule) -> {
            try {
                made.add(Rule.of(name, rule, factories, publisher));
            } catch (ConfigurationException e) {
                problems.addAll(e.problems());
            }
        });
        Path folder = folder(config.storage());
        problems.addAll(WrittenFiles.problems(config.rules(), factories, folder));
        if (!problems.isEmpty()) {
            made.forEach(Rule::close);
            throw new ConfigurationException(problems);
        }
        rules = List.copyOf(made);
        live = new LiveRules(config.rules(), factories, publisher, folder);
        types = ActionTypes.of(factories.values());
    }

    /** Compiles statements and reads files. Blocks; reports all problems at once. */
    static RulesModule of(BrokerConfig config) {
        return of(config, List.of());
    }

    /** The same with types of sinks of an application. */
    static RulesModule of(BrokerConfig config, List<SinkFactory> more) {
        return new RulesModule(config, more);
    }

    /** Publishes to the broker while it runs. */
    private final class ToBroker implements SinkPublisher {

        @Override
        public Mono<Void> publish(ApplicationMessage message) {
            return running().flatMap(broker -> broker.publish(message)).then();
        }

        @Override
        public Mono<Void> publishAll(List<ApplicationMessage> messages) {
            return running().flatMap(broker -> broker.publishAll(messages));
        }

        private Mono<Broker> running() {
            Core running = core;
            return running == null
                    ? Mono.error(new IllegalStateException("the broker does not run"))
                    : Mono.just(running.broker());
        }
    }

    @Override
    public String configurationKey() {
        return "rules";
    }

    @Override
    public Mono<Void> start(Core started) {
        core = started;
        boolean stored = folder(config.storage()) != null;
        if (!stored && !rules.isEmpty()) {
            LOG.warn("rules: without a store what waits for actions is lost with the process");
        }
        RuleThreads workers = new RuleThreads(config.ruleEngine());
        threads = workers;
        Supplier<ClusterStatus> cluster = started.cluster();
        Rule.Surroundings surroundings = new Rule.Surroundings(
                started,
                workers,
                budget(config.ruleEngine()),
                publisher,
                cluster == null ? ALONE : cluster.get().self().nodeId(),
                stored,
                folder(config.storage()),
                new DeadLetterFiles(),
                false);
        around = surroundings;
        endFormer(started);
        return Flux.fromIterable(rules).flatMap(rule -> rule.open(surroundings)).then();
    }

    /** The folder of dead letters; null without a store. */
    private static @Nullable Path folder(StorageConfig storage) {
        return storage.kind() == StorageConfig.Kind.MEMORY
                ? null
                : storage.dir().resolve("rules");
    }

    /** Ends the queues of actions that are no longer configured: nothing else would ever empty them. */
    private void endFormer(Core started) {
        for (Session session : started.sessions().all()) {
            String id = session.id();
            if (id.startsWith(CONSUMERS) && rules.stream().noneMatch(rule -> owns(rule, id))) {
                String consumer = id.substring(InProcess.PREFIX.length() + InProcess.LOCAL.length());
                LOG.warn(
                        "{} is no longer configured: {} messages for it are discarded",
                        LogText.escape(consumer),
                        session.queuedCount());
                session.execute(() -> session.terminate(io.smqtt.message.ReasonCode.ADMINISTRATIVE_ACTION));
            }
        }
    }

    private static boolean owns(Rule rule, String id) {
        return rule.config().actions().keySet().stream()
                .anyMatch(action -> id.equals(
                        InProcess.PREFIX + InProcess.LOCAL + RuleAction.consumer(false, rule.name(), action)));
    }

    @Override
    public void listening() {
        rules.forEach(Rule::begin);
        Rule.Surroundings of = around;
        if (of != null) {
            live.begin(of.forOperators());
        }
    }

    @Override
    public Rules rules() {
        return this;
    }

    @Override
    public List<RuleStatus> status() {
        return Stream.concat(rules.stream().map(Rule::status), live.status().stream())
                .toList();
    }

    @Override
    public Mono<String> probe(String rule, String action) {
        return Flux.fromStream(() -> Stream.concat(rules.stream(), live.all().stream()))
                .filter(each -> each.name().equals(rule))
                .flatMapIterable(Rule::actions)
                .filter(each -> each.name().equals(action))
                .next()
                .flatMap(RuleAction::probe);
    }

    @Override
    public List<ActionType> types() {
        return types;
    }

    @Override
    public Mono<String> probe(Map<String, String> keys) {
        return live.probe(keys);
    }

    @Override
    public Mono<List<String>> check(String name, Map<String, String> keys) {
        return live.check(name, keys);
    }

    @Override
    public Mono<Void> put(String name, Map<String, String> keys) {
        return live.put(name, keys);
    }

    @Override
    public Mono<Void> remove(String name) {
        return live.remove(name);
    }

    @Override
    public Mono<Void> settled() {
        return live.settled();
    }

    @Override
    public Mono<Trial> test(String sql, Map<String, ? extends @Nullable Object> fields) {
        return Mono.fromCallable(() -> RuleTrial.of(sql, fields, budget(config.ruleEngine())))
                .subscribeOn(Schedulers.boundedElastic());
    }

    private static RuleBudget budget(RuleEngineConfig engine) {
        return new RuleBudget(engine.maxSteps(), engine.maxResultBytes());
    }

    List<Rule> all() {
        return rules;
    }

    LiveRules live() {
        return live;
    }

    /** The parts of the running broker that rules use. */
    Rule.Surroundings surroundings() {
        return Objects.requireNonNull(around).forOperators();
    }

    @Override
    public Mono<Void> stop() {
        return Mono.<Void>fromRunnable(this::close).subscribeOn(Schedulers.boundedElastic());
    }

    /** Ends all rules. Blocks. */
    void close() {
        rules.forEach(Rule::close);
        live.close();
        RuleThreads workers = threads;
        if (workers != null) {
            workers.close();
        }
    }
}
