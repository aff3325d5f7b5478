// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import static io.smqtt.bench.ConnectionOptions.check;

import java.io.PrintStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Runs the publishers and subscribers of a named scenario. */
@Command(name = "scenario", description = "Runs publishers and subscribers of a well-known scenario.")
final class ScenarioCommand extends LoadCommand {

    /** For the help. */
    static final class Names implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return Arrays.stream(Scenario.values()).map(Scenario::toString).iterator();
        }
    }

    @Parameters(
            index = "0",
            paramLabel = "SCENARIO",
            completionCandidates = Names.class,
            description = "One of ${COMPLETION-CANDIDATES}.")
    String name = "";

    @Option(names = "--pubs", description = "Publishers; retained: 10; offline: sessions. Default: by scenario.")
    @Nullable
    Integer publishers;

    @Option(names = "--subs", description = "Subscribers. Default: by scenario.")
    @Nullable
    Integer subscribers;

    @Option(names = "--group", description = "fanin: members of a shared subscription. Default: ${DEFAULT-VALUE}.")
    int group = 5;

    @Option(names = "--filters", description = "wildcard: further filters. Default: ${DEFAULT-VALUE}.")
    int filters = 10_000;

    @Option(names = "--holders", description = "wildcard: clients with these filters. Default: ${DEFAULT-VALUE}.")
    int holders = 20;

    @Option(names = "--messages", description = "retained: 20000 in total; offline: 100 for each session.")
    @Nullable
    Integer messages;

    @Option(
            names = {"-q", "--qos"},
            description = "0, 1 or 2. Default: ${DEFAULT-VALUE}.")
    int qos = 1;

    @Option(
            names = {"-s", "--size"},
            description = "Payload bytes, at least 16. Default: by scenario.")
    @Nullable
    Integer payloadBytes;

    @Option(
            names = "--property",
            paramLabel = "NAME=VALUE",
            description = "MQTT 5: a user property of each message; repeatable.")
    List<String> userProperties = List.of();

    @Option(
            names = "--slow",
            paramLabel = "COUNT",
            description = "single-topic: further subscribers that read 2 KiB every 100 ms; not measured."
                    + " Default: ${DEFAULT-VALUE}.")
    int slow;

    @Option(
            names = "--rate",
            description = "Open loop: messages per second of all publishers. Default: 0, a closed loop.")
    double perSecond;

    @Option(
            names = "--window",
            description = "Closed loop: messages of a publisher not yet received. Default: ${DEFAULT-VALUE}.")
    int window = 32;

    @Option(
            names = {"-F", "--inflight"},
            description = "Messages of a publisher not yet acknowledged. Default: ${DEFAULT-VALUE}.")
    int inFlight = 32;

    @Option(
            names = {"-L", "--limit"},
            description = "Messages of all publishers together; 0: no limit. Default: ${DEFAULT-VALUE}.")
    long limit;

    @Option(names = "--warm-up", paramLabel = "TIME", description = "Before the measurement. Default: 1s.")
    Duration warmUp = Duration.ofSeconds(1);

    ScenarioCommand(PrintStream out, PrintStream err, Interruption interruption) {
        super(out, err, interruption);
    }

    @Override
    LoadResult load(Watch watch) {
        Scenario scenario = scenario();
        int pubs = publishers == null ? scenario.publishers : publishers;
        int subs = subscribers == null ? scenario.subscribers : subscribers;
        check(pubs > 0 && subs > 0, "--pubs and --subs: at least 1");
        check(group > 0 && holders > 0 && filters >= 0, "--group, --holders and --filters: cannot be negative");
        check(slow >= 0, "--slow: cannot be negative");
        check(slow == 0 || scenario == Scenario.SINGLE_TOPIC, "--slow is for single-topic");
        Target target = connection.target();
        LoadSettings settings = MessageRules.checked(new LoadSettings(
                qos,
                payloadBytes == null ? scenario.payloadBytes : payloadBytes,
                false,
                UserProperty.of(userProperties, target.version()),
                perSecond,
                perSecond > 0 ? 0 : window,
                inFlight,
                limit,
                limit > 0 ? Duration.ZERO : warmUp,
                run.duration,
                run.drain));
        ScenarioPlans plans = new ScenarioPlans(connection.prefix, qos);
        return switch (scenario) {
            case SYMMETRIC -> runPlan(plans.symmetric(pubs), target, settings, watch, false);
            case FANIN -> runPlan(plans.fanIn(pubs, subs, group), target, settings, watch, false);
            case FANOUT -> runPlan(plans.fanOut(pubs, subs), target, settings, watch, false);
            case SINGLE_TOPIC -> runPlan(plans.singleTopic(pubs, subs, slow), target, settings, watch, false);
            case WILDCARD -> runPlan(plans.wildcard(pubs, filters, holders), target, settings, watch, false);
            case RETAINED -> {
                run.require(pubs);
                yield store(plans, target, settings, watch).retained(pubs, messages(20_000));
            }
            case OFFLINE -> {
                run.require(pubs);
                yield store(plans, target, settings, watch).offline(pubs, messages(100));
            }
        };
    }

    private int messages(int usual) {
        int chosen = messages == null ? usual : messages;
        check(chosen > 0 && chosen < 100_000_000, "--messages: 1 to 99999999");
        return chosen;
    }

    private StoreScenarios store(ScenarioPlans plans, Target target, LoadSettings settings, Watch watch) {
        return new StoreScenarios(plans, target, settings, run.threads, connection.arrivalNanos(), watch);
    }

    private Scenario scenario() {
        for (Scenario scenario : Scenario.values()) {
            if (scenario.toString().equals(name)) {
                return scenario;
            }
        }
        throw new WrongUsage("there is no scenario " + name + "; there are "
                + Arrays.stream(Scenario.values()).map(Scenario::toString).collect(Collectors.joining(", ")));
    }
}
