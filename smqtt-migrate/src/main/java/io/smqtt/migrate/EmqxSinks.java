// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import io.smqtt.config.SecretMask;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Writes one action of EMQX, with its connector, as an action of a rule. Each method returns null, or why the action cannot be written. */
final class EmqxSinks {

    private static final String NAME = "[A-Za-z0-9_-]{1,100}";
    private static final Set<String> PROPERTIES = Set.of(
            "content-type",
            "content-encoding",
            "correlation-id",
            "reply-to",
            "message-id",
            "type",
            "app-id",
            "expiration",
            "priority",
            "timestamp");
    private static final Set<String> ARGUMENTS = Set.of("topic", "payload", "qos", "retain", "user_properties");

    private final Draft draft;
    private final EmqxKeys keys;
    private final EmqxPaths paths;

    EmqxSinks(Draft draft, EmqxKeys keys, EmqxPaths paths) {
        this.draft = draft;
        this.keys = keys;
        this.paths = paths;
    }

    /** One action that is written: its prefix here, and its keys there. */
    private record Target(String ours, OldSetting from, String action, String connector, EmqxSelect select) {}

    /** Writes an action that is a function of EMQX itself. */
    @Nullable
    String function(String ours, OldSetting from, String name, String arguments, EmqxSelect select) {
        Target target = new Target(ours, from, arguments, "", select);
        return switch (name) {
            case "console" -> {
                draft.set(ours + "type", "console", from);
                yield null;
            }
            case "republish" -> republish(target);
            default -> "there is no function " + name;
        };
    }

    private @Nullable String republish(Target target) {
        String block = target.action;
        String topic = keys.text(block + ".topic", "");
        String reason = topic.isEmpty() ? "it has no topic" : unknown(target, List.of("topic", "payload"));
        if (reason != null) {
            return reason;
        }
        draft.set(target.ours + "type", "republish", target.from);
        template(target, block + ".topic", "topic");
        String payload = target.select.has("payload") ? "${payload}" : "${.}";
        draft.set(
                target.ours + "payload",
                EmqxSelect.template(keys.text(block + ".payload", payload)),
                from(target, block + ".payload"));
        String qos = keys.text(block + ".qos", "${qos}");
        boolean known = qos.matches("[012]") || target.select.missing(qos) == null;
        draft.set(target.ours + "qos", known ? EmqxSelect.template(qos) : "0", from(target, block + ".qos"));
        String retain = keys.text(block + ".retain", "${retain}");
        // EMQX looks for a column with this name, which a message does not have; here it would be its flag
        boolean noColumn = retain.equals("${retain}") && !target.select.names("retain");
        boolean flag = retain.matches("true|false") || (!noColumn && target.select.missing(retain) == null);
        draft.set(
                target.ours + "retain", flag ? EmqxSelect.template(retain) : "false", from(target, block + ".retain"));
        OldSetting properties = keys.get(block + ".user_properties");
        if (properties != null) {
            draft.note(
                    properties,
                    Outcome.NONE,
                    target.ours + "user-properties.<name>: one key for each; all of a message cannot be passed on");
        }
        arguments(target);
        return null;
    }

    /** Names what is not written of a republish. */
    private void arguments(Target target) {
        String prefix = target.action + ".";
        for (OldSetting each : keys.below(prefix)) {
            String name = each.key().substring(prefix.length());
            if (!ARGUMENTS.contains(name)) {
                draft.note(each, Outcome.NONE, "republish has no such argument here");
            }
        }
        if (target.select.has("pub_props")) {
            draft.note(
                    target.from,
                    Outcome.DIFFERENT,
                    target.ours
                            + "type: properties of the message, such as its content type, response topic and expiry, are not passed on");
        }
    }

    /** Writes an action that has a connector. */
    @Nullable
    String write(String ours, OldSetting from, String type, String action, String connector, EmqxSelect select) {
        Target target = new Target(ours, from, action, connector, select);
        String reason = switch (type) {
            case "http" -> http(target);
            case "influxdb" -> influx(target);
            case "kafka_producer" -> kafka(target);
            case "rabbitmq" -> rabbit(target);
            case "redis" -> redis(target);
            default -> sql(target, !type.equals("mysql"));
        };
        if (reason == null) {
            batches(target);
        }
        return reason;
    }

    private @Nullable String http(Target target) {
        String url = keys.text(target.connector + ".url", "");
        String path = keys.text(target.action + ".parameters.path", "");
        String method = keys.text(target.action + ".parameters.method", "post").toLowerCase(Locale.ROOT);
        if (!url.matches("https?://[^/$?#]+[^$]*")) {
            return "its url must be http:// or https:// with a host, without placeholders";
        }
        if (!List.of("post", "put", "patch").contains(method)) {
            return "its method must be post or put";
        }
        String reason = unknown(target, List.of("parameters.path", "parameters.body"));
        if (reason != null) {
            return reason;
        }
        draft.set(target.ours + "type", "http", target.from);
        String join = path.isEmpty() || path.startsWith("?") ? url : url.replaceAll("/+$", "") + "/";
        draft.set(
                target.ours + "url",
                join + EmqxSelect.template(path.replaceFirst("^/+", "")),
                from(target, target.connector + ".url"));
        draft.set(target.ours + "method", method, from(target, target.action + ".parameters.method"));
        template(target, target.action + ".parameters.body", "body");
        if (isJson(target)) {
            jsonTemplate(target, target.action + ".parameters.body", "body");
        }
        headers(target, target.connector + ".headers.");
        headers(target, target.action + ".parameters.headers.");
        if (url.startsWith("https:")) {
            certificates(target, "ca", "", "");
        }
        return null;
    }

    /** Whether the content type is JSON, which it is without such a header. */
    private boolean isJson(Target target) {
        String type = "application/json";
        for (String prefix : List.of(target.connector + ".headers.", target.action + ".parameters.headers.")) {
            for (OldSetting header : keys.below(prefix)) {
                type = header.key().equalsIgnoreCase(prefix + "content-type") ? header.value() : type;
            }
        }
        return type.contains("json");
    }

    /** In a text of JSON a value is written as JSON, so that it stays JSON; EMQX inserts its text. */
    private void jsonTemplate(Target target, String theirs, String ours) {
        OldSetting setting = keys.get(theirs);
        if (setting != null && EmqxSelect.differsInJson(setting.value())) {
            draft.note(
                    setting,
                    Outcome.DIFFERENT,
                    target.ours + ours
                            + ": a value is written as JSON, a text with quotes around it or escaped between quotes; to insert an object of the payload let the statement select json_decode(payload) AS payload");
        }
    }

    private void headers(Target target, String prefix) {
        for (OldSetting header : keys.below(prefix)) {
            String name = header.key().substring(prefix.length()).toLowerCase(Locale.ROOT);
            String key = target.ours + "headers." + name;
            if (!name.matches(NAME) || target.select.missing(header.value()) != null) {
                draft.note(header, Outcome.NONE, "its name, or a placeholder in it, cannot be written");
            } else if (SecretMask.mayBeSecret(name)) {
                draft.secret(key, header.value(), header);
                draft.note(
                        header,
                        Outcome.DIFFERENT,
                        key + ": is not written, because it may hold a secret; set it by the environment");
            } else {
                draft.set(key, EmqxSelect.template(header.value()), header);
            }
        }
    }

    private @Nullable String influx(Target target) {
        String parameters = target.connector + ".parameters.";
        String type = keys.text(parameters + "influxdb_type", "");
        String version = type.replaceFirst("^influxdb_api_", "");
        String address = BridgeEntry.address(keys.text(target.connector + ".server", ""), 8086);
        OldSetting syntax = keys.get(target.action + ".parameters.write_syntax");
        if (!List.of("v1", "v2", "v3").contains(version) || address == null || syntax == null) {
            return "it needs server as host:port, influxdb_type influxdb_api_v1, _v2 or _v3, and write_syntax";
        }
        EmqxInfluxLine line = EmqxInfluxLine.of(syntax.value().strip());
        if (line == null) {
            return "its write_syntax must be one line with a measurement, tags and fields, without escapes";
        }
        String literal = line.literalField();
        if (literal != null) {
            return "its field " + literal
                    + " is neither a text in quotes nor one placeholder; let the statement select it, such as 1 AS "
                    + literal + ", and write ${" + literal + "}";
        }
        String reason = unknown(target, List.of("parameters.write_syntax"));
        if (reason != null) {
            return reason;
        }
        boolean secure = keys.text(target.connector + ".ssl.enable", "false").equals("true");
        draft.set(target.ours + "type", "influxdb", target.from);
        draft.set(
                target.ours + "url",
                (secure ? "https://" : "http://") + address,
                from(target, target.connector + ".server"));
        draft.set(target.ours + "version", version, from(target, parameters + "influxdb_type"));
        for (String key : version.equals("v2") ? List.of("org", "bucket") : List.of("database")) {
            copy(parameters + key, target.ours + key);
        }
        if (version.equals("v1")) {
            copy(parameters + "username", target.ours + "username");
            secret(target, parameters + "password", "password-file");
        } else {
            secret(target, parameters + "token", "token-file");
        }
        draft.set(target.ours + "measurement", EmqxSelect.template(line.measurement()), syntax);
        line.tags()
                .forEach((name, value) -> draft.set(target.ours + "tags." + name, EmqxSelect.template(value), syntax));
        line.templates()
                .forEach(
                        (name, value) -> draft.set(target.ours + "fields." + name, EmqxSelect.template(value), syntax));
        if (!line.timestamp().isEmpty()) {
            draft.set(target.ours + "timestamp", EmqxSelect.template(line.timestamp()), syntax);
        }
        copy(target.action + ".parameters.precision", target.ours + "precision");
        draft.note(
                syntax,
                Outcome.DIFFERENT,
                target.ours
                        + "fields.<name>: a placeholder keeps the type of its value; float() and int() in the statement decide it");
        String quoted = line.quotedField();
        if (quoted != null) {
            draft.note(
                    syntax,
                    Outcome.DIFFERENT,
                    target.ours + "fields." + quoted
                            + ": is a text there whatever the value is; str() in the statement makes it one");
        }
        if (secure) {
            certificates(target, "ca", "", "");
        }
        return null;
    }

    private @Nullable String sql(Target target, boolean postgres) {
        OldSetting statement = keys.get(target.action + ".parameters.sql");
        String address = BridgeEntry.address(keys.text(target.connector + ".server", ""), postgres ? 5432 : 3306);
        String database = keys.text(target.connector + ".database", "");
        if (statement == null || address == null || !database.matches(NAME)) {
            return "it needs server as host:port, database, and sql";
        }
        String reason = unknown(target, List.of("parameters.sql"));
        if (reason != null) {
            return reason;
        }
        draft.set(target.ours + "type", "jdbc", target.from);
        String url = (postgres ? "jdbc:postgresql://" : "jdbc:mariadb://") + address + "/" + database;
        draft.set(
                target.ours + "url",
                url + paths.databaseTls(keys, target.connector, postgres),
                from(target, target.connector + ".server"));
        copy(target.connector + ".username", target.ours + "username");
        secret(target, target.connector + ".password", "password-file");
        draft.set(target.ours + "statement", EmqxSelect.template(EmqxBackendCheck.statement(statement)), statement);
        draft.note(
                target.from,
                Outcome.DIFFERENT,
                target.ours + "type: an extension, lib/ext/sink-jdbc"
                        + (postgres ? "" : "; put the driver of MariaDB beside it"));
        return null;
    }

    private @Nullable String kafka(Target target) {
        String parameters = target.action + ".parameters.";
        List<String> hosts =
                List.of(keys.text(target.connector + ".bootstrap_hosts", "").split(",", -1));
        String servers = BridgeEntry.urls("", hosts, 9092);
        String mechanism = keys.text(target.connector + ".authentication.mechanism", "none");
        String sasl = mechanism.toLowerCase(Locale.ROOT).replace('_', '-');
        if (servers.isEmpty() || keys.text(parameters + "topic", "").isEmpty()) {
            return "it needs bootstrap_hosts as host:port, and a topic";
        }
        if (!List.of("none", "plain", "scram-sha-256", "scram-sha-512").contains(sasl)
                || !List.of("none", "").contains(keys.text(target.connector + ".authentication", "none"))) {
            return "its authentication must be none, plain, scram_sha_256 or scram_sha_512";
        }
        String reason =
                unknown(target, List.of("parameters.topic", "parameters.message.key", "parameters.message.value"));
        if (reason != null) {
            return reason;
        }
        draft.set(target.ours + "type", "kafka", target.from);
        draft.set(target.ours + "bootstrap-servers", servers, from(target, target.connector + ".bootstrap_hosts"));
        template(target, parameters + "topic", "topic");
        if (keys.has(parameters + "message.key") || target.select.has("clientid")) {
            draft.set(
                    target.ours + "key",
                    EmqxSelect.template(keys.text(parameters + "message.key", "${clientid}")),
                    from(target, parameters + "message.key"));
        }
        template(target, parameters + "message.value", "value");
        jsonTemplate(target, parameters + "message.value", "value");
        String compression = keys.text(parameters + "compression", "no_compression");
        if (List.of("gzip", "snappy", "lz4", "zstd").contains(compression)) {
            draft.set(target.ours + "compression", compression, from(target, parameters + "compression"));
        }
        for (int i = 0; keys.hasBelow(parameters + "kafka_ext_headers[" + i + "]."); i++) {
            pair(target, parameters + "kafka_ext_headers[" + i + "].kafka_ext_header_", "headers.", Set.of());
        }
        if (!sasl.equals("none")) {
            draft.set(target.ours + "sasl", sasl, from(target, target.connector + ".authentication.mechanism"));
            copy(target.connector + ".authentication.username", target.ours + "username");
            secret(target, target.connector + ".authentication.password", "password-file");
        }
        if (keys.text(target.connector + ".ssl.enable", "false").equals("true")) {
            draft.set(target.ours + "tls", "true", from(target, target.connector + ".ssl.enable"));
            certificates(target, "ca", "certificate", "private-key");
        }
        draft.note(target.from, Outcome.DIFFERENT, target.ours + "type: an extension, lib/ext/sink-kafka");
        return null;
    }

    /** A header or property that is an entry of a list. */
    private void pair(Target target, String block, String ours, Set<String> known) {
        OldSetting key = keys.get(block + "key");
        OldSetting value = keys.get(block + "value");
        if (key == null || value == null) {
            return;
        }
        String name = key.value().strip();
        if (!known.isEmpty()) {
            name = name.replace('_', '-');
        }
        boolean possible = name.matches(NAME)
                && target.select.missing(value.value()) == null
                && (known.isEmpty() || known.contains(name));
        if (possible) {
            draft.set(target.ours + ours + name, EmqxSelect.template(value.value()), value);
        } else {
            draft.note(key, Outcome.NONE, "its name, or a placeholder in it, cannot be written");
        }
    }

    private @Nullable String rabbit(Target target) {
        String parameters = target.action + ".parameters.";
        String address = BridgeEntry.address(
                keys.text(target.connector + ".server", "localhost") + ":"
                        + keys.text(target.connector + ".port", "5672"),
                5672);
        String exchange = keys.text(parameters + "exchange", "");
        if (address == null
                || (exchange.isEmpty()
                        && keys.text(parameters + "routing_key", "").isEmpty())) {
            return "it needs server, port, and exchange or routing_key";
        }
        String reason = unknown(
                target, List.of("parameters.exchange", "parameters.routing_key", "parameters.payload_template"));
        if (reason != null) {
            return reason;
        }
        boolean secure = keys.text(target.connector + ".ssl.enable", "false").equals("true");
        draft.set(target.ours + "type", "rabbitmq", target.from);
        draft.set(
                target.ours + "url",
                (secure ? "amqps://" : "amqp://") + address,
                from(target, target.connector + ".server"));
        copy(target.connector + ".username", target.ours + "username");
        secret(target, target.connector + ".password", "password-file");
        copy(target.connector + ".virtual_host", target.ours + "virtual-host");
        template(target, parameters + "exchange", "exchange");
        template(target, parameters + "routing_key", "routing-key");
        template(target, parameters + "payload_template", "body");
        jsonTemplate(target, parameters + "payload_template", "body");
        if (keys.text(parameters + "delivery_mode", "").equals("non_persistent")) {
            draft.set(target.ours + "persistent", "false", from(target, parameters + "delivery_mode"));
        }
        for (int i = 0; keys.hasBelow(parameters + "headers_template[" + i + "]."); i++) {
            pair(target, parameters + "headers_template[" + i + "].", "headers.", Set.of());
        }
        for (int i = 0; keys.hasBelow(parameters + "properties_template[" + i + "]."); i++) {
            pair(target, parameters + "properties_template[" + i + "].", "properties.", PROPERTIES);
        }
        if (secure) {
            certificates(target, "ca", "certificate", "private-key");
        }
        draft.note(
                target.from,
                Outcome.DIFFERENT,
                target.ours
                        + "mandatory: a message that reaches no queue is a dead letter; the type is an extension, lib/ext/sink-rabbitmq");
        return null;
    }

    private @Nullable String redis(Target target) {
        String parameters = target.connector + ".parameters.";
        String mode = keys.text(parameters + "redis_type", "single").toLowerCase(Locale.ROOT);
        boolean secure = keys.text(target.connector + ".ssl.enable", "false").equals("true");
        boolean single = mode.equals("single");
        List<String> servers = List.of(
                keys.text(parameters + (single ? "server" : "servers"), "").split(",", -1));
        String urls = BridgeEntry.urls(secure ? "rediss://" : "redis://", servers, 6379)
                .replace(',', ' ');
        OldSetting command = keys.get(target.action + ".parameters.command_template");
        if (urls.isEmpty()
                || command == null
                || !List.of("single", "sentinel", "cluster").contains(mode)
                || mode.equals("sentinel") != keys.has(parameters + "sentinel")) {
            return "it needs server or servers as host:port, the name of the sentinel with redis_type sentinel, and command_template";
        }
        String reason = unknown(target, List.of("parameters.command_template"));
        if (reason != null) {
            return reason;
        }
        draft.set(target.ours + "type", "redis", target.from);
        draft.set(target.ours + "url", urls, from(target, parameters + (single ? "server" : "servers")));
        if (!single) {
            draft.set(target.ours + "mode", mode, from(target, parameters + "redis_type"));
            copy(parameters + "sentinel", target.ours + "sentinel-master");
        }
        copy(parameters + "username", target.ours + "username");
        secret(target, parameters + "password", "password-file");
        if (!mode.equals("cluster")) {
            copy(parameters + "database", target.ours + "database");
        }
        List<String> words = new ArrayList<>();
        for (String word : command.value().split(",", -1)) {
            String text = EmqxSelect.template(word);
            words.add(text.isEmpty() || text.matches(".*[\\s\"'].*") ? '"' + text.replace("\"", "\\\"") + '"' : text);
        }
        draft.set(target.ours + "command", String.join(" ", words), command);
        if (secure) {
            certificates(target, "ca", "", "");
        }
        draft.note(
                target.from,
                Outcome.DIFFERENT,
                target.ours + "command: words are separated at commas; the type is an extension, lib/ext/sink-redis");
        return null;
    }

    /** A placeholder that the statement does not select is {@code undefined} in EMQX, and stops the start here. */
    private @Nullable String unknown(Target target, List<String> names) {
        for (String name : names) {
            String column = target.select.missing(keys.text(target.action + "." + name, ""));
            if (column != null) {
                return "the statement does not select " + column + ", which " + name + " has as placeholder";
            }
        }
        return null;
    }

    private OldSetting from(Target target, String key) {
        OldSetting setting = keys.get(key);
        return setting == null ? target.from : setting;
    }

    private void template(Target target, String theirs, String ours) {
        OldSetting setting = keys.get(theirs);
        if (setting != null) {
            draft.set(target.ours + ours, EmqxSelect.template(setting.value()), setting);
        }
    }

    private void copy(String theirs, String ours) {
        OldSetting setting = keys.get(theirs);
        if (setting != null) {
            draft.set(ours, setting.value().strip(), setting);
        }
    }

    /** A secret, in a file of its own; EMQX can name a file, too. */
    private void secret(Target target, String theirs, String ours) {
        OldSetting setting = keys.get(theirs);
        if (setting == null) {
            return;
        }
        String value = setting.value().strip();
        if (value.startsWith("file://")) {
            draft.set(
                    target.ours + ours,
                    paths.of(new OldSetting(setting.key(), value.substring("file://".length()), setting.where())),
                    setting);
        } else {
            String name = target.ours
                    .replaceFirst("^rules\\.", "")
                    .replace(".actions.", "-")
                    .replaceFirst("\\.$", "");
            draft.privateFile(target.ours + ours, "rule-" + name + "." + ours.replace("-file", ""), value, setting);
        }
    }

    private void certificates(Target target, String authority, String certificate, String key) {
        if (!EmqxPaths.checksServer(keys, target.connector)) {
            draft.note(
                    from(target, target.connector + ".ssl.verify"),
                    Outcome.DIFFERENT,
                    target.ours + authority + ": the certificate of the server is checked; name its authority");
        }
        Map<String, String> files = Map.of("cacertfile", authority, "certfile", certificate, "keyfile", key);
        files.forEach((theirs, ours) -> {
            OldSetting file = keys.get(target.connector + ".ssl." + theirs);
            if (file == null) {
                return;
            }
            if (ours.isEmpty() || EmqxPaths.isPem(file)) {
                draft.note(
                        file, Outcome.NONE, ours.isEmpty() ? "not configurable" : "write it to a file, and name that");
            } else {
                draft.set(target.ours + ours, paths.of(file), file);
            }
        });
    }

    /** The size of batches. */
    private void batches(Target target) {
        OldSetting size = keys.get(target.action + ".resource_opts.batch_size");
        String text = size == null ? null : EmqxValue.count(1, 10_000).of(draft, size);
        if (size != null && text != null) {
            draft.set(target.ours + "batch-size", text, size);
        }
        OldSetting time = keys.get(target.action + ".resource_opts.batch_time");
        String millis = time == null ? null : EmqxValue.duration(1, 0, 60_000).of(draft, time);
        if (time != null && millis != null) {
            draft.set(target.ours + "batch-time", millis, time);
        }
    }
}
