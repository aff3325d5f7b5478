// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import static io.smqtt.bench.ConnectionOptions.check;

import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Publishes to topics that a rule of the broker publishes again under other names, and to topics that it does not read, with the same load. The
 * difference is the cost of the rule. Or publishes for a rule with another sink, and reports how fast it writes.
 */
@Command(
        name = "rules",
        description = "Publishes with and without a rule that republishes the messages, and reports the difference.")
final class RulesCommand extends LoadCommand {

    private static final String NAME = "rules";

    @Option(names = "--pairs", description = "Publishers, and as many subscribers. Default: ${DEFAULT-VALUE}.")
    int pairs = 100;

    @Option(
            names = {"-t", "--topic"},
            description =
                    "What the topics begin with that the rule reads; a slash and a number follow. Default: ${DEFAULT-VALUE}.")
    String topic = "bench/rules";

    @Option(
            names = "--arrives-as",
            paramLabel = "TOPIC",
            description = "What the topics begin with to which the rule publishes. Default: out/ and the topic.")
    @Nullable
    String arrival;

    @Option(
            names = "--plain",
            paramLabel = "TOPIC",
            description = "What the topics begin with for the same load without a rule. Default: ${DEFAULT-VALUE}.")
    String plain = "bench/plain";

    @Option(
            names = "--value",
            paramLabel = "NUMBER",
            description = "The member t of payloads in JSON, which the rule can compare. Default: ${DEFAULT-VALUE}.")
    double value = 41.5;

    @Option(
            names = "--rounds",
            description =
                    "Loads without and with the rule, in turns; the last ones are reported. Default: ${DEFAULT-VALUE}.")
    int rounds = 2;

    @Option(
            names = {"-q", "--qos"},
            description = "0, 1 or 2. Default: ${DEFAULT-VALUE}.")
    int qos = 1;

    @Option(
            names = {"-s", "--size"},
            description = "Bytes of a payload, which is JSON; 64 or more. Default: ${DEFAULT-VALUE}.")
    int payloadBytes = 128;

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
            description = "Messages of all publishers together in each load; 0: no limit. Default: ${DEFAULT-VALUE}.")
    long limit;

    @Option(
            names = "--sink",
            paramLabel = "RULE",
            description = "Publishes only, and reports how many messages a second the actions of this rule write.")
    @Nullable
    String sink;

    @Option(
            names = "--metrics",
            paramLabel = "URL",
            description = "With --sink: the management listener of the broker. Default: ${DEFAULT-VALUE}.")
    String metrics = "http://127.0.0.1:18083";

    @Option(names = "--warm-up", paramLabel = "TIME", description = "Before each measurement. Default: 1s.")
    Duration warmUp = Duration.ofSeconds(1);

    RulesCommand(PrintStream out, PrintStream err, Interruption interruption) {
        super(out, err, interruption);
    }

    @Override
    LoadResult load(Watch watch) {
        check(pairs > 0, "--pairs: at least 1");
        check(rounds > 0, "--rounds: at least 1");
        String number = value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
        check(
                payloadBytes >= Stamp.LEAST_JSON_BYTES + number.length(),
                "-s " + payloadBytes + ": payloads in JSON with a stamp are larger");
        String in = arrival == null ? "out/" + topic : arrival;
        for (String name : List.of(topic, in, plain)) {
            String problem = TopicPattern.problemOfName(name);
            check(problem.isEmpty(), "-t, --arrives-as and --plain: " + problem);
        }
        Target target = connection.target();
        if (sink != null) {
            return toSink(new SinkCount(metrics, sink), sink, number, target, watch);
        }
        LoadSettings settings = settings(number, window);
        ScenarioPlans plans = new ScenarioPlans(connection.prefix, qos);
        LoadResult without = null;
        LoadResult with = null;
        for (int round = 0; round < rounds && (with == null || !with.interrupted()); round++) {
            without = runPlan(plans.forwarded(NAME, pairs, plain, plain), target, settings, watch, false);
            if (without.interrupted()) {
                return without;
            }
            with = runPlan(plans.forwarded(NAME, pairs, topic, in), target, settings, watch, false);
            if (with.figures().delivered == 0 && !with.interrupted()) {
                throw new LoadFailure("no message has arrived: does a rule of " + target.display() + " select " + topic
                        + "/# and republish to " + in + "/…?");
            }
        }
        if (without == null || with == null) {
            throw new WrongUsage("--rounds: at least 1");
        }
        return with.withExtra(NAME, difference(without, with));
    }

    /** All messages of a round are written before the next one begins. */
    private LoadResult toSink(SinkCount count, String rule, String number, Target target, Watch watch) {
        check(limit > 0, "--sink: needs -L, the messages of a round");
        List<ClientSpec> publishers = new ArrayList<>();
        for (int i = 0; i < pairs; i++) {
            publishers.add(ClientSpec.publisher(connection.prefix + "-p-" + i, i, i, topic + '/' + i));
        }
        Plan plan = new Plan(NAME, publishers, List.of(), 0);
        LoadResult result = null;
        Map<String, Double> extra = new LinkedHashMap<>();
        for (int round = 0; round < rounds && (result == null || !result.interrupted()); round++) {
            long before = count.read();
            long began = System.nanoTime();
            result = runPlan(plan, target, settings(number, 0), watch, false);
            long published = result.figures().published;
            boolean interrupted = result.interrupted();
            long written = count.await(before + published, run.drain, () -> interrupted) - before;
            double seconds = (System.nanoTime() - began) / 1e9 - result.connectSeconds();
            if (written < published && !interrupted) {
                throw new LoadFailure("of " + published + " messages the rule " + rule + " has written " + written
                        + " within " + run.drain.toSeconds() + " s after the last one (--drain)");
            }
            extra.put("written by the sink", (double) written);
            extra.put("written by the sink/s", written / seconds);
            extra.put("until the last one s", seconds);
        }
        if (result == null) {
            throw new WrongUsage("--rounds: at least 1");
        }
        return result.withExtra(NAME, extra);
    }

    private LoadSettings settings(String number, int window) {
        LoadSettings settings = new LoadSettings(
                qos,
                payloadBytes,
                false,
                List.of(),
                perSecond,
                perSecond > 0 ? 0 : window,
                inFlight,
                limit,
                limit > 0 ? Duration.ZERO : warmUp,
                run.duration,
                run.drain,
                number);
        return MessageRules.checked(settings);
    }

    private static Map<String, Double> difference(LoadResult without, LoadResult with) {
        Map<String, Double> extra = new LinkedHashMap<>();
        extra.put("without the rule delivered/s", without.deliveredPerSecond());
        extra.put("without the rule p50 us", without.latencyMicros(50));
        extra.put("without the rule p99 us", without.latencyMicros(99));
        if (without.broker() != null && with.broker() != null) {
            extra.put("without the rule us/message", without.brokerMicrosPerDelivered());
            extra.put("the rule us/message", with.brokerMicrosPerDelivered() - without.brokerMicrosPerDelivered());
        }
        return extra;
    }
}
