// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The listeners of EMQX as listeners of this broker. */
final class EmqxListeners {

    private static final String CERTIFICATE = "ssl_options.certfile";
    private static final String KEY = "ssl_options.keyfile";

    private final Draft draft;
    private final EmqxKeys keys;
    private final EmqxPaths paths;
    private final Map<String, String> names = new LinkedHashMap<>();

    EmqxListeners(Draft draft, EmqxKeys keys, EmqxPaths paths) {
        this.draft = draft;
        this.keys = keys;
        this.paths = paths;
        for (String type : List.of("tcp", "ssl", "ws", "wss")) {
            for (String block : keys.blocks("listeners." + type)) {
                String name = EmqxKeys.name(block);
                String ours = name.equals("default") ? type : type + "-" + Draft.plain(name);
                for (int i = 2; names.containsValue(ours); i++) {
                    ours = type + "-" + Draft.plain(name) + "-" + i;
                }
                names.put(block, ours);
            }
        }
    }

    /** This broker's prefix for the keys of the listener that a setting belongs to. */
    String prefix(OldSetting setting) {
        return "listeners." + names.get(EmqxKeys.block(setting.key())) + ".";
    }

    /** The prefixes of all listeners of the file. */
    List<String> prefixes() {
        List<String> prefixes = new ArrayList<>();
        names.values().forEach(name -> prefixes.add("listeners." + name + "."));
        return prefixes;
    }

    /** The prefixes of the listeners with TLS that are on. */
    List<String> tls() {
        return prefixes().stream()
                .filter(prefix -> draft.has(prefix + "tls.certificate"))
                .toList();
    }

    /** Completes the listeners by what needs more than one key. */
    void complete() {
        names.forEach(this::complete);
        if (keys.blocks("listeners.ssl").isEmpty()
                && keys.blocks("listeners.wss").isEmpty()
                && keys.hasBelow("listeners.")) {
            draft.note(
                    "listeners",
                    Outcome.NONE,
                    "EMQX listens on 8883 and 8084 with a certificate of its own unless the file turns that off; add listeners "
                            + "with tls.certificate and tls.key");
        }
    }

    private void complete(String block, String name) {
        String prefix = "listeners." + name + ".";
        boolean secure = block.startsWith("listeners.ssl.") || block.startsWith("listeners.wss.");
        boolean webSocket = block.startsWith("listeners.ws");
        OldSetting bind = keys.get(block + ".bind");
        OldSetting any = bind == null ? keys.below(block + ".").get(0) : bind;
        if (!name.equals("tcp") && !name.equals("ws")) {
            draft.set(prefix + "type", webSocket ? "ws" : "tcp", any);
        }
        if (!draft.has(prefix + "port")) {
            draft.byDefault(prefix + "port", port(block), "EMQX's default");
        }
        if (webSocket && keys.isOn(block)) {
            draft.note(
                    any,
                    Outcome.DIFFERENT,
                    prefix
                            + "allowed-origins: web pages of other hosts are refused; EMQX accepts them; list their origins, or '*'");
        }
        if (secure && keys.isOn(block)) {
            tls(block, prefix, any);
        }
    }

    private static String port(String block) {
        return switch (block.substring("listeners.".length(), block.lastIndexOf('.'))) {
            case "tcp" -> "1883";
            case "ssl" -> "8883";
            case "ws" -> "8083";
            default -> "8084";
        };
    }

    private void tls(String block, String prefix, OldSetting any) {
        OldSetting certificate = file(block, CERTIFICATE);
        OldSetting key = file(block, KEY);
        if (certificate == null || key == null) {
            draft.drop(prefix + "enabled");
            draft.set(prefix + "enabled", "false", any);
            draft.note(
                    any,
                    Outcome.NONE,
                    prefix
                            + "enabled: false until tls.certificate and tls.key name files in PEM; EMQX has a certificate of its own");
            return;
        }
        draft.set(prefix + "tls.certificate", paths.of(certificate), certificate);
        draft.set(prefix + "tls.key", paths.of(key), key);
        OldSetting verify = keys.get(block + ".ssl_options.verify");
        OldSetting authority = file(block, "ssl_options.cacertfile");
        boolean asks = verify != null && verify.value().strip().equals("verify_peer");
        if (authority != null && asks) {
            draft.set(prefix + "tls.client-ca", paths.of(authority), authority);
        } else if (authority != null) {
            draft.note(
                    authority,
                    Outcome.NONE,
                    "is needed only with verify = verify_peer; the chain belongs into certfile");
        }
        if (verify != null && asks && authority == null) {
            draft.problem(verify, "needs cacertfile, the authorities of client certificates in one file");
        } else if (verify != null) {
            boolean required = keys.text(block + ".ssl_options.fail_if_no_peer_cert", "false")
                    .equals("true");
            draft.set(prefix + "tls.client-auth", asks ? required ? "required" : "optional" : "none", verify);
        }
    }

    /** A key that names a file; a certificate in the configuration itself is reported. */
    private @Nullable OldSetting file(String block, String key) {
        OldSetting setting = keys.get(block + "." + key);
        if (setting != null && EmqxPaths.isPem(setting)) {
            draft.note(setting, Outcome.NONE, "is the text of a certificate or key; write it to a file, and name that");
            return null;
        }
        return setting;
    }
}
