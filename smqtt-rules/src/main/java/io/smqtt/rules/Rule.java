// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.BrokerModule;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.RuleActionConfig;
import io.smqtt.config.RuleConfig;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkFactory;
import io.smqtt.rules.sink.SinkPublisher;
import io.smqtt.rules.sink.SinkSettings;
import io.smqtt.rules.sql.RuleBudget;
import io.smqtt.rules.sql.RuleProgram;
import io.smqtt.rules.sql.RuleSql;
import io.smqtt.rules.sql.RuleSqlException;
import io.smqtt.spi.RuleStatus;
import io.smqtt.thread.AnyThread;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A rule with its compiled statement and its sinks, checked before anything is started. */
@AnyThread
final class Rule {

    private static final Logger LOG = LoggerFactory.getLogger(Rule.class);

    private static final int LONGEST_NAMES = 120;

    private final String name;
    private final RuleConfig config;
    private final RuleProgram program;
    private final List<String> filters;
    private final Map<String, Sink> sinks;
    private volatile List<RuleAction> actions = List.of();
    private volatile @Nullable DeadLetters deadLetters;

    private Rule(String name, RuleConfig config, RuleProgram program, List<String> filters, Map<String, Sink> sinks) {
        this.name = name;
        this.config = config;
        this.program = program;
        this.filters = filters;
        this.sinks = sinks;
    }

    /**
     * Compiles the statement, and makes the sinks. Blocks.
     *
     * @param publisher publishes messages to the broker, once it runs
     * @throws ConfigurationException if something cannot be used, with all problems
     */
    static Rule of(String name, RuleConfig config, Map<String, SinkFactory> types, SinkPublisher publisher) {
        List<String> problems = new ArrayList<>();
        String block = "rules." + name + ".";
        RuleProgram program = null;
        List<String> filters = List.of();
        try {
            program = RuleSql.compile(config.sql());
            filters = RuleSources.filters(program);
        } catch (RuleSqlException e) {
            problems.add(block + "sql has a mistake: " + e.text());
        }
        Map<String, Sink> sinks = new LinkedHashMap<>();
        Set<String> columns = program == null ? null : program.columns();
        config.actions().forEach((action, common) -> {
            try {
                sinks.put(action, sink(name, action, common, types, publisher, columns));
            } catch (ConfigurationException e) {
                problems.addAll(e.problems());
            }
        });
        if (program == null || !problems.isEmpty()) {
            sinks.values().forEach(Sink::close);
            throw new ConfigurationException(problems);
        }
        return new Rule(name, config, program, filters, sinks);
    }

    private static Sink sink(
            String rule,
            String action,
            RuleActionConfig config,
            Map<String, SinkFactory> types,
            SinkPublisher publisher,
            @Nullable Set<String> columns) {
        String block = "rules." + rule + ".actions." + action + ".";
        SinkFactory factory = types.get(config.type());
        if (factory == null) {
            throw new ConfigurationException(
                    block + "type",
                    "is " + config.type() + ", but the types that are present are " + String.join(", ", types.keySet())
                            + "; others need their jar");
        }
        if (rule.length() + action.length() > LONGEST_NAMES) {
            throw new ConfigurationException(
                    block + "type", "is below names that have more than 120 characters together");
        }
        SinkSettings settings = SinkSettings.of(block, factory.settings(), config.settings());
        try {
            return factory.open(new SinkContext(rule, action, config, settings, publisher, columns));
        } catch (ConfigurationException e) {
            throw e;
        } catch (RuntimeException | LinkageError e) {
            throw new ConfigurationException(
                    block + "type", "is " + config.type() + ", whose sink cannot be made: " + e);
        }
    }

    String name() {
        return name;
    }

    RuleConfig config() {
        return config;
    }

    List<RuleAction> actions() {
        return actions;
    }

    RuleStatus status() {
        return new RuleStatus(
                name,
                config.sql(),
                config.description(),
                filters,
                actions.stream().map(RuleAction::status).toList());
    }

    /** What rules need of the broker. */
    record Surroundings(
            BrokerModule.Core core,
            RuleThreads threads,
            RuleBudget budget,
            SinkPublisher publisher,
            String node,
            boolean stored,
            @Nullable Path folder,
            DeadLetterFiles letterFiles,
            boolean live) {

        /** The same for rules that operators have made. */
        Surroundings forOperators() {
            return new Surroundings(core, threads, budget, publisher, node, stored, folder, letterFiles, true);
        }
    }

    /** The file of the dead letters of a rule; null if there is none, because there is no store and the rule names none. */
    static @Nullable Path letterFile(String name, RuleConfig config, @Nullable Path folder) {
        Path named = config.deadLetterFile();
        return named == null && folder != null ? folder.resolve(name + "-dead.jsonl") : named;
    }

    /** The accounts of the actions, by their names. */
    Map<String, RuleCounts> counts() {
        Map<String, RuleCounts> all = new LinkedHashMap<>();
        actions.forEach(action -> all.put(action.name(), action.counts()));
        return all;
    }

    /** Subscribes all actions with accounts of their own. */
    Mono<Void> open(Surroundings of) {
        return open(of, Map.of());
    }

    /** Subscribes all actions, which continue these accounts. Completes when all are subscribed; an error of one of them is logged, and it tries again. */
    Mono<Void> open(Surroundings of, Map<String, RuleCounts> former) {
        Path file = letterFile(name, config, of.folder());
        DeadLetters letters = new DeadLetters(name, of.publisher(), of.letterFiles(), file);
        deadLetters = letters;
        RuleAction.Shared shared = new RuleAction.Shared(
                name,
                program,
                filters,
                of.budget(),
                of.core(),
                of.threads(),
                letters,
                of.node(),
                of.stored(),
                of.live());
        List<RuleAction> all = new ArrayList<>();
        config.actions().forEach((action, common) -> {
            Sink sink = sinks.get(action);
            if (sink != null) {
                RuleCounts counts = former.get(action);
                all.add(new RuleAction(shared, action, common, sink, counts == null ? new RuleCounts() : counts));
            }
        });
        actions = List.copyOf(all);
        return Flux.fromIterable(all)
                .flatMap(action -> action.open().onErrorResume(error -> Mono.empty()))
                .then();
    }

    /** Checks the sink of an action that is not begun: an empty text if it can be reached, otherwise the reason. */
    Mono<String> probe(String action) {
        return RuleAction.check(
                Objects.requireNonNull(sinks.get(action)),
                Objects.requireNonNull(config.actions().get(action)));
    }

    /** Begins to take messages. */
    void begin() {
        actions.forEach(RuleAction::begin);
    }

    /** Ends the rule. Blocks for some seconds at most. */
    void close() {
        List<RuleAction> running = actions;
        if (running.isEmpty()) {
            sinks.values().forEach(sink -> end(sink::close));
        }
        running.forEach(action -> end(action::close));
        DeadLetters letters = deadLetters;
        if (letters != null) {
            end(letters::close);
        }
    }

    /** Ends one part; the others end although that fails. */
    private void end(Runnable part) {
        try {
            part.run();
        } catch (RuntimeException | LinkageError e) { // a sink may be an extension
            LOG.error("rule {}: a part of it could not be closed", name, e);
        }
    }
}
