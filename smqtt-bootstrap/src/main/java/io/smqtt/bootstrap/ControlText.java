// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.netty.util.NetUtil;
import io.smqtt.ClientDetails;
import io.smqtt.ClientInfo;
import io.smqtt.message.LogText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Sessions for people. What clients say of themselves may hold anything, and is escaped. */
final class ControlText {

    private static final List<String> HEAD = List.of(
            "CLIENT", "STATE", "USER", "ADDRESS", "LISTENER", "VERSION", "SUBSCRIPTIONS", "IN FLIGHT", "QUEUED");

    private ControlText() {}

    static String of(ControlPaths.Page page) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(HEAD);
        page.shown().forEach(client -> rows.add(row(client)));
        return table(rows) + page.shown().size() + " of " + page.total() + " sessions\n";
    }

    private static List<String> row(ClientInfo client) {
        return List.of(
                LogText.escape(client.identity().clientId()),
                client.connected() ? "online" : "offline",
                LogText.escape(client.identity().userName()),
                NetUtil.toSocketAddressString(client.identity().remoteAddress()),
                client.identity().listener(),
                version(client),
                Integer.toString(client.subscriptions()),
                Integer.toString(client.inFlight()),
                Integer.toString(client.queued()));
    }

    private static String version(ClientInfo client) {
        String number = client.identity()
                .version()
                .name()
                .toLowerCase(Locale.ROOT)
                .replace("mqtt_", "")
                .replace('_', '.');
        return client.identity().bridge() ? number + " bridge" : number;
    }

    static String of(ClientDetails details) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(HEAD);
        rows.add(row(details.info()));
        StringBuilder text = new StringBuilder(table(rows));
        text.append("keep alive: ").append(seconds(details.keepAlive(), "none"));
        text.append(", session expires: ").append(expiry(details.sessionExpiry()));
        text.append(details.stored() ? ", stored" : ", in memory").append('\n');
        text.append("queue: ").append(details.info().queued()).append(" messages, ");
        text.append(details.queuedBytes()).append(" bytes; in-flight limit: ").append(details.sendMaximum());
        text.append('\n');
        for (ClientDetails.Filter filter : details.subscriptions()) {
            text.append("  ").append(LogText.escape(filter.filter()));
            text.append(", QoS ").append(filter.maximumQos().level());
            text.append(filter.noLocal() ? ", no local" : "");
            text.append(filter.retainAsPublished() ? ", retain as published" : "");
            text.append(filter.identifier() == 0 ? "" : ", identifier " + filter.identifier());
            text.append('\n');
        }
        return text.toString();
    }

    private static String expiry(@Nullable Duration expiry) {
        if (expiry == null) {
            return "never";
        }
        return expiry.isZero() ? "with its connection" : seconds(expiry, "") + " after its connection";
    }

    private static String seconds(@Nullable Duration duration, String none) {
        return duration == null ? none : duration.toSeconds() + " s";
    }

    private static String table(List<List<String>> rows) {
        int[] widths = new int[HEAD.size()];
        for (List<String> row : rows) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < widths.length; i++) {
                line.append(row.get(i)).append(" ".repeat(widths[i] - row.get(i).length() + 2));
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        return text.toString();
    }
}
