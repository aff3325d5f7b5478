// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** The tree of commands that ask and change a running broker through its REST API. */
final class CtlCommand {

    static final String NAME = "ctl";

    private static final String DESCRIPTION =
            "Shows and changes a running broker through its management port. In a cluster lists and actions reach all "
                    + "nodes.";

    private CtlCommand() {}

    /**
     * {@return {@code ctl} with the commands that may be meant}
     *
     * @param words the arguments after {@code ctl}: to describe each of a hundred commands takes longer than to call one
     */
    static CommandLine of(ProgramContext program, List<String> words) {
        return all(program).line(words);
    }

    /** {@return {@code ctl} for a list of commands, without any below it} */
    static CommandLine nameOnly() {
        return new Group(NAME, DESCRIPTION, List.of()).line(List.of());
    }

    private static Group all(ProgramContext program) {
        return new Group(
                NAME,
                DESCRIPTION,
                List.of(
                        new NodeCommands.Status(program),
                        new UserCommands.WhoAmI(program),
                        new NodeCommands.Nodes(program),
                        new NodeCommands.Stats(program),
                        new NodeCommands.Metrics(program),
                        new Parent(new NodeCommands.Cluster(program), List.of(new NodeCommands.Replace(program))),
                        new Group(
                                "clients",
                                "Shows and ends sessions.",
                                List.of(
                                        new ClientCommands.Sessions(program),
                                        new ClientCommands.Show(program),
                                        new ClientCommands.Kick(program),
                                        new ClientCommands.Subscriptions(program),
                                        new ClientCommands.Subscribe(program),
                                        new ClientCommands.Unsubscribe(program),
                                        new ClientCommands.Queue(program),
                                        new ClientCommands.InFlight(program))),
                        new Group(
                                "bans",
                                "Shows and changes which clients may not connect.",
                                List.of(
                                        new BanCommands.Bans(program),
                                        new BanCommands.Add(program),
                                        new BanCommands.Delete(program))),
                        new RoutingCommands.Subscriptions(program),
                        new RoutingCommands.Groups(program),
                        new RoutingCommands.Topics(program),
                        new RoutingCommands.Explain(program),
                        new MessageCommands.Publish(program),
                        new Group(
                                "retained",
                                "Shows and removes retained messages.",
                                List.of(
                                        new MessageCommands.Retained(program),
                                        new MessageCommands.Show(program),
                                        new MessageCommands.Delete(program))),
                        new Group(
                                "delayed",
                                "Shows and cancels messages that are published later.",
                                List.of(
                                        new DelayedCommands.Waiting(program),
                                        new DelayedCommands.Show(program),
                                        new DelayedCommands.Delete(program),
                                        new DelayedCommands.Settings(program),
                                        new DelayedCommands.Change(program))),
                        new Group(
                                "topic-rewrites",
                                "Shows and changes the rules that give topics another name.",
                                List.of(
                                        new TopicRuleCommands.Rewrites(program),
                                        new TopicRuleCommands.AddRewrite(program),
                                        new TopicRuleCommands.DeleteRewrite(program))),
                        new Group(
                                "auto-subscriptions",
                                "Shows and changes the subscriptions that clients get when they connect.",
                                List.of(
                                        new TopicRuleCommands.Subscriptions(program),
                                        new TopicRuleCommands.AddSubscription(program),
                                        new TopicRuleCommands.DeleteSubscription(program))),
                        new Group(
                                "topic-metrics",
                                "Counts the messages of single topics and filters.",
                                List.of(
                                        new TopicMetricCommands.Counts(program),
                                        new TopicMetricCommands.Show(program),
                                        new TopicMetricCommands.Add(program),
                                        new TopicMetricCommands.Reset(program),
                                        new TopicMetricCommands.Delete(program))),
                        new Group(
                                "retained-policies",
                                "Shows and changes the rules for retained messages of some topics.",
                                List.of(
                                        new RetainedPolicyCommands.Policies(program),
                                        new RetainedPolicyCommands.Add(program),
                                        new RetainedPolicyCommands.Delete(program))),
                        new Group(
                                "validations",
                                "Shows and changes the checks of payloads.",
                                List.of(
                                        new ValidationCommands.Validations(program),
                                        new ValidationCommands.Add(program),
                                        new ValidationCommands.Delete(program))),
                        new Group(
                                "schemas",
                                "Shows and changes the JSON Schemas of checks of payloads.",
                                List.of(
                                        new SchemaCommands.Schemas(program),
                                        new SchemaCommands.Show(program),
                                        new SchemaCommands.Add(program),
                                        new SchemaCommands.Replace(program),
                                        new SchemaCommands.Delete(program))),
                        new Group(
                                "listeners",
                                "Shows, stops and starts listeners.",
                                List.of(
                                        new ListenerCommands.Listeners(program),
                                        new ListenerCommands.Show(program),
                                        new ListenerCommands.Start(program),
                                        new ListenerCommands.Stop(program),
                                        new ListenerCommands.Restart(program))),
                        new Group(
                                "bridges",
                                "Shows, stops and starts connections to other brokers.",
                                List.of(
                                        new BridgeCommands.All(program),
                                        new BridgeCommands.Show(program),
                                        new BridgeCommands.Start(program),
                                        new BridgeCommands.Stop(program),
                                        new BridgeCommands.Restart(program))),
                        new Group(
                                "rules",
                                "Shows, changes, stops, starts and checks rules with their actions.",
                                List.of(
                                        new RuleObjectCommands.All(program),
                                        new RuleObjectCommands.Show(program),
                                        new RuleObjectCommands.Types(program),
                                        new RuleObjectCommands.Add(program),
                                        new RuleObjectCommands.Change(program),
                                        new RuleObjectCommands.Delete(program),
                                        new RuleObjectCommands.Start(program),
                                        new RuleObjectCommands.Stop(program),
                                        new RuleObjectCommands.Probe(program))),
                        new Group(
                                "sources",
                                "Shows, changes, stops, starts and checks places from which messages come into the broker.",
                                List.of(
                                        new SourceCommands.All(program),
                                        new SourceCommands.Show(program),
                                        new SourceCommands.Types(program),
                                        new SourceCommands.Add(program),
                                        new SourceCommands.Change(program),
                                        new SourceCommands.Enable(program),
                                        new SourceCommands.Disable(program),
                                        new SourceCommands.Delete(program),
                                        new SourceCommands.Start(program),
                                        new SourceCommands.Stop(program),
                                        new SourceCommands.Restart(program),
                                        new SourceCommands.Probe(program))),
                        new Group(
                                "users",
                                "Shows and changes users of the API and the dashboard.",
                                List.of(
                                        new UserCommands.Users(program),
                                        new UserCommands.Add(program),
                                        new UserCommands.Change(program),
                                        new UserCommands.Delete(program),
                                        new UserCommands.Password(program))),
                        new Group(
                                "keys",
                                "Shows and changes API keys.",
                                List.of(
                                        new KeyCommands.Keys(program),
                                        new KeyCommands.Show(program),
                                        new KeyCommands.Add(program),
                                        new KeyCommands.Change(program),
                                        new KeyCommands.Delete(program))),
                        new Group(
                                "trace",
                                "Records what happens to a client, to the messages of a topic, or to an address.",
                                List.of(
                                        new TraceCommands.Traces(program),
                                        new TraceCommands.Start(program),
                                        new TraceCommands.Show(program),
                                        new TraceCommands.Follow(program),
                                        new TraceCommands.Stop(program),
                                        new TraceCommands.Download(program),
                                        new TraceCommands.Delete(program))),
                        new Group(
                                "log",
                                "Shows and sets the levels of the log.",
                                List.of(new LogCommands.Loggers(program), new LogCommands.SetLevel(program))),
                        new Group(
                                "access",
                                "Steers the backends that say who may connect.",
                                List.of(new AccessCommands.Forget(program))),
                        new ServiceCommands.Alarms(program),
                        new ServiceCommands.Audit(program),
                        new ServiceCommands.Config(program),
                        new ServiceCommands.Reload(program),
                        new ServiceCommands.Export(program),
                        new ServiceCommands.Import(program)));
    }

    /**
     * A command with others below it.
     *
     * @param command an object that picocli reads
     * @param below the same for those below it
     */
    private record Parent(Object command, List<?> below) {

        CommandLine line() {
            CommandLine line = new CommandLine(command);
            below.forEach(line::addSubcommand);
            return line;
        }
    }

    /**
     * A word that is no command without a further one.
     *
     * @param commands groups, parents, and objects that picocli reads
     */
    private record Group(String name, String description, List<?> commands) {

        /** {@return the command, below it only the one that the first word names if it names any} */
        CommandLine line(List<String> words) {
            List<String> names = commands.stream().map(Group::nameOf).toList();
            Alone alone = new Alone(names);
            CommandSpec spec = CommandSpec.wrapWithoutInspection(alone).name(name);
            spec.usageMessage().description(description);
            CommandLine line = new CommandLine(spec);
            alone.line = line;
            int named = words.isEmpty() ? -1 : names.indexOf(words.get(0));
            List<?> meant = named < 0 ? commands : commands.subList(named, named + 1);
            List<String> further = named < 0 ? List.of() : words.subList(1, words.size());
            for (Object command : meant) {
                line.addSubcommand(lineOf(command, further));
            }
            return line;
        }

        private static CommandLine lineOf(Object command, List<String> further) {
            if (command instanceof Parent parent) {
                return parent.line();
            }
            return command instanceof Group group ? group.line(further) : new CommandLine(command);
        }

        private static String nameOf(Object command) {
            if (command instanceof Parent parent) {
                return nameOf(parent.command);
            }
            return command instanceof Group group
                    ? group.name
                    : command.getClass().getAnnotation(Command.class).name();
        }
    }

    /** Names what may follow. */
    private static final class Alone implements Runnable {

        private final List<String> names;
        private CommandLine line = new CommandLine(CommandSpec.create());

        Alone(List<String> names) {
            this.names = names;
        }

        @Override
        public void run() {
            throw new ParameterException(
                    line, line.getCommandSpec().qualifiedName() + " needs one of " + String.join(", ", names));
        }
    }
}
