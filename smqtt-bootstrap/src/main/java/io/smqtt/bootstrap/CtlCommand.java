// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** The tree of commands that ask and change a running broker through its REST API. */
final class CtlCommand {

    private CtlCommand() {}

    /** {@return {@code ctl} with all commands below it} */
    static CommandLine of(ProgramContext program) {
        return group(
                "ctl",
                "Shows and changes a running broker through its management port. In a cluster lists and actions reach all "
                        + "nodes.",
                List.of(
                        new NodeCommands.Status(program),
                        new UserCommands.WhoAmI(program),
                        new NodeCommands.Nodes(program),
                        new NodeCommands.Stats(program),
                        new NodeCommands.Metrics(program),
                        new NodeCommands.Cluster(program),
                        group(
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
                        group(
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
                        group(
                                "retained",
                                "Shows and removes retained messages.",
                                List.of(
                                        new MessageCommands.Retained(program),
                                        new MessageCommands.Show(program),
                                        new MessageCommands.Delete(program))),
                        group(
                                "delayed",
                                "Shows and cancels messages that are published later.",
                                List.of(
                                        new DelayedCommands.Waiting(program),
                                        new DelayedCommands.Show(program),
                                        new DelayedCommands.Delete(program))),
                        group(
                                "topic-metrics",
                                "Counts the messages of single topics and filters.",
                                List.of(
                                        new TopicMetricCommands.Counts(program),
                                        new TopicMetricCommands.Show(program),
                                        new TopicMetricCommands.Add(program),
                                        new TopicMetricCommands.Reset(program),
                                        new TopicMetricCommands.Delete(program))),
                        group(
                                "schemas",
                                "Shows and changes the JSON Schemas of checks of payloads.",
                                List.of(
                                        new SchemaCommands.Schemas(program),
                                        new SchemaCommands.Show(program),
                                        new SchemaCommands.Add(program),
                                        new SchemaCommands.Replace(program),
                                        new SchemaCommands.Delete(program))),
                        group(
                                "listeners",
                                "Shows, stops and starts listeners.",
                                List.of(
                                        new ListenerCommands.Listeners(program),
                                        new ListenerCommands.Show(program),
                                        new ListenerCommands.Start(program),
                                        new ListenerCommands.Stop(program),
                                        new ListenerCommands.Restart(program))),
                        group(
                                "bridges",
                                "Shows, stops and starts connections to other brokers.",
                                List.of(
                                        new BridgeCommands.All(program),
                                        new BridgeCommands.Show(program),
                                        new BridgeCommands.Start(program),
                                        new BridgeCommands.Stop(program),
                                        new BridgeCommands.Restart(program))),
                        group(
                                "users",
                                "Shows and changes users of the API and the dashboard.",
                                List.of(
                                        new UserCommands.Users(program),
                                        new UserCommands.Add(program),
                                        new UserCommands.Change(program),
                                        new UserCommands.Delete(program),
                                        new UserCommands.Password(program))),
                        group(
                                "keys",
                                "Shows and changes API keys.",
                                List.of(
                                        new KeyCommands.Keys(program),
                                        new KeyCommands.Show(program),
                                        new KeyCommands.Add(program),
                                        new KeyCommands.Change(program),
                                        new KeyCommands.Delete(program))),
                        group(
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
                        group(
                                "log",
                                "Shows and sets the levels of the log.",
                                List.of(new LogCommands.Loggers(program), new LogCommands.SetLevel(program))),
                        group(
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

    private static CommandLine group(String name, String description, List<?> commands) {
        List<String> names = new ArrayList<>();
        Group group = new Group(names);
        CommandSpec spec = CommandSpec.wrapWithoutInspection(group).name(name);
        spec.usageMessage().description(description);
        CommandLine line = new CommandLine(spec);
        group.line = line;
        for (Object command : commands) {
            CommandLine sub = command instanceof CommandLine made ? made : new CommandLine(command);
            names.add(sub.getCommandName());
            line.addSubcommand(sub);
        }
        return line;
    }

    /** A word that is no command without a further one. */
    private static final class Group implements Runnable {

        private final List<String> names;
        private CommandLine line = new CommandLine(CommandSpec.create());

        Group(List<String> names) {
            this.names = names;
        }

        @Override
        public void run() {
            throw new ParameterException(
                    line, line.getCommandSpec().qualifiedName() + " needs one of " + String.join(", ", names));
        }
    }
}
