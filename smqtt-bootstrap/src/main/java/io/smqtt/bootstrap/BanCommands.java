// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smqtt.bootstrap.BrokerApi.Listing;
import io.smqtt.bootstrap.BrokerApi.Paging;
import io.smqtt.bootstrap.TextTable.Column;
import io.smqtt.message.LogText;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ctl bans}: which clients may not connect. */
final class BanCommands {

    private static final String KIND = "Is what is banned, one of ${COMPLETION-CANDIDATES}.";

    private BanCommands() {}

    /** What is banned, named as in the API. */
    enum Kind {
        clientid,
        username,
        peerhost,
        clientid_re,
        username_re,
        peerhost_net
    }

    /** Lists bans. */
    @Command(name = "list", description = "Lists the bans, which all nodes have.")
    static final class Bans extends CtlRequest {

        private static final List<Column> COLUMNS = List.of(
                Column.of("KIND", "as"),
                Column.of("who"),
                Column.of("UNTIL", "until"),
                Column.of("SINCE", "at"),
                Column.of("by"),
                Column.of("reason"));

        @Nullable
        @Option(names = "--match", paramLabel = "TEXT", description = "Shows only bans of what contains this text.")
        String match;

        Bans(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            String wanted = match == null ? "" : match;
            out.list(
                    api,
                    new Listing("/banned", Paging.PAGE, 0),
                    ban -> ban.path("who").asText().contains(wanted),
                    COLUMNS,
                    "bans");
        }
    }

    /** Adds a ban. */
    @Command(
            name = "add",
            description =
                    "Bans clients on all nodes and disconnects those that are connected. Their sessions stay until they "
                            + "expire. A peerhost is an address, a peerhost_net a network such as 10.0.0.0/8; those with _re are "
                            + "regular expressions.")
    static final class Add extends CtlRequest {

        @Nullable
        @Option(
                names = "--for",
                paramLabel = "TIME",
                converter = TimeSpan.class,
                description = "Ends the ban after this time, such as 30m, 12h or 7d. The default is never.")
        Duration time;

        @Nullable
        @Option(names = "--reason", paramLabel = "TEXT", description = "Is shown in lists.")
        String reason;

        @Parameters(index = "0", paramLabel = "KIND", description = KIND)
        Kind kind = Kind.clientid;

        @Parameters(index = "1", paramLabel = "WHO", description = "Is who is banned.")
        String name = "";

        Add(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            ObjectNode ban = BrokerApi.object().put("as", kind.name()).put("who", name);
            if (reason != null) {
                ban.put("reason", reason);
            }
            if (time != null) {
                ban.put(
                        "until",
                        Instant.now().plus(time).truncatedTo(ChronoUnit.SECONDS).toString());
            }
            out.done(api.send("POST", "/banned", ban), "banned " + kind + " " + LogText.escape(name));
        }
    }

    /** Ends bans. */
    @Command(name = "delete", description = "Ends a ban, or all bans.")
    static final class Delete extends CtlRequest {

        @Option(names = "--all", description = "Ends all bans.")
        boolean all;

        @Nullable
        @Parameters(index = "0", arity = "0..1", paramLabel = "KIND", description = KIND)
        Kind kind;

        @Nullable
        @Parameters(index = "1", arity = "0..1", paramLabel = "WHO", description = "Is who is banned.")
        String name;

        Delete(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            if (all == (kind != null) || !all && name == null) {
                throw usage("bans delete takes KIND and WHO, or --all");
            }
            if (kind == null || name == null) {
                api.send("DELETE", "/banned", null);
                out.done("ended all bans");
            } else {
                api.send("DELETE", BrokerApi.path("/banned/{as}/{who}", kind.name(), name), null);
                out.done("ended the ban of " + kind + " " + LogText.escape(name));
            }
        }
    }
}
