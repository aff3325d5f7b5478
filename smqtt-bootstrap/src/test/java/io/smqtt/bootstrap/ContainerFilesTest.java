// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.ClusterConfig;
import io.smqtt.config.ConfigSchema;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.StorageConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** Image, compose file, Kubernetes manifests and Helm chart: that they hold together, and that the broker takes what they configure. */
class ContainerFilesTest {

    private static final Path DEPLOY = Path.of("..", "deploy");
    private static final String NAME_LABEL = "app.kubernetes.io/name";

    @TempDir
    Path directory;

    @Test
    void theImageRunsTheScriptAsAUserAndByExecForm() throws IOException {
        List<String> lines = instructions(DEPLOY.resolve("docker/Dockerfile"));

        assertThat(lines)
                .filteredOn(line -> line.startsWith("FROM "))
                .hasSize(3)
                .allMatch(line -> line.contains(":"));
        assertThat(lines).filteredOn(line -> line.startsWith("USER ")).containsExactly("USER 10001:10001");
        assertThat(lines.indexOf("USER 10001:10001"))
                .isGreaterThan(lines.lastIndexOf(lastOf(lines, "RUN ")))
                .isGreaterThan(lines.lastIndexOf(lastOf(lines, "COPY ")));
        assertThat(lastOf(lines, "ENTRYPOINT ")).isEqualTo("ENTRYPOINT [\"/opt/smqtt/bin/smqtt\"]");
        assertThat(lastOf(lines, "CMD ")).startsWith("CMD [\"start\"");
        assertThat(lastOf(lines, "HEALTHCHECK ")).endsWith("CMD [\"/opt/smqtt/bin/health\"]");
        for (String line : lines) {
            if (line.startsWith("COPY ") && !line.startsWith("COPY --from")) {
                String[] words = line.split(" ");
                for (int i = 1; i < words.length - 1; i++) {
                    assertThat(Path.of("..", words[i])).as(line).exists();
                }
            }
        }
    }

    /** Continued lines as one, without comments. */
    private static List<String> instructions(Path dockerfile) throws IOException {
        String text = Files.readString(dockerfile).replaceAll("(?m)^#.*\n", "").replaceAll(" *\\\\\n *", " ");
        return text.lines().filter(line -> !line.isBlank()).toList();
    }

    private static String lastOf(List<String> lines, String instruction) {
        return lines.stream()
                .filter(line -> line.startsWith(instruction))
                .reduce((a, b) -> b)
                .orElseThrow();
    }

    @Test
    void theImagesConfigurationIsValid() throws IOException {
        EffectiveConfig config = bind(Files.readString(DEPLOY.resolve("docker/smqtt.yaml")), Map.of());

        assertThat(config.program().shutdownTimeout().toSeconds()).isLessThan(10);
    }

    @Test
    void theNodesOfTheComposeFileAreACluster() throws IOException {
        Map<String, Object> compose =
                map(yaml(DEPLOY.resolve("compose/compose.yaml")).get(0));
        Map<String, Object> services = map(compose.get("services"));
        String shared = Files.readString(DEPLOY.resolve("compose/smqtt.yaml"));
        Set<String> addresses = new TreeSet<>();
        for (String name : List.of("node-1", "node-2", "node-3")) {
            Map<String, Object> node = map(services.get(name));
            EffectiveConfig config = bind(shared, map(node.get("environment")));
            String address = text(node, "networks", "brokers", "ipv4_address");
            assertThat(config.broker().cluster().nodeId()).isEqualTo(name);
            assertThat(config.broker().cluster().bind()).isEqualTo(address + ":7800");
            addresses.add(config.broker().cluster().bind());
            assertThat(config.broker().cluster().seeds()).contains(address + ":7800");
            assertThat(config.broker().cluster().minMembers()).isEqualTo(2);
            assertThat(config.broker().storage().replicas()).isEqualTo(3);
            assertThat(config.broker().cluster().relay().bind()).isEqualTo(address + ":7802");
            assertThat(config.broker().cluster().replicaNodes()).hasSize(3).containsEntry(name, address + ":7801");
            assertThat(Files.readString(DEPLOY.resolve("compose/nginx.conf")))
                    .contains("server " + address + ":1883 ", "server " + address + ":8083 ");
            assertThat(Files.readString(DEPLOY.resolve("compose/prometheus.yml")))
                    .contains(address + ":" + config.broker().management().port());
            assertThat(shared).contains(text(map(services.get("nginx")), "networks", "brokers", "ipv4_address"));
        }
        assertThat(addresses).hasSize(3);
        EffectiveConfig front = bind(shared, map(map(services.get("front")).get("environment")));
        assertThat(front.broker().cluster().role()).isEqualTo(ClusterConfig.Role.FRONT);
        assertThat(front.broker().storage().kind()).isEqualTo(StorageConfig.Kind.MEMORY);
    }

    @Test
    void everythingThatTheComposeFileNamesIsThere() throws IOException {
        Map<String, Object> compose =
                map(yaml(DEPLOY.resolve("compose/compose.yaml")).get(0));
        Set<String> volumes = map(compose.get("volumes")).keySet();
        Set<String> secrets = map(compose.get("secrets")).keySet();
        for (Map.Entry<String, Object> entry : map(compose.get("services")).entrySet()) {
            Map<String, Object> service = map(entry.getValue());
            assertThat(service.get("image").toString()).as(entry.getKey()).contains(":");
            for (Object volume : list(service.get("volumes"))) {
                String source = volume.toString().split(":")[0];
                if (!source.startsWith(".")) {
                    assertThat(volumes).contains(source);
                } else {
                    assertThat(DEPLOY.resolve("compose").resolve(source)).exists();
                }
            }
            assertThat(secrets).containsAll(strings(service.get("secrets")));
        }
        for (String provisioned : List.of("datasources/prometheus.yml", "dashboards/smqtt.yml")) {
            assertThat(yaml(DEPLOY.resolve("compose/grafana/provisioning/" + provisioned)))
                    .hasSize(1);
        }
    }

    @Test
    void theManifestsHoldTogether() throws IOException {
        String manifests = Files.readString(DEPLOY.resolve("kubernetes/smqtt.yaml"));
        checkManifests(manifests + "\n---\n" + Files.readString(DEPLOY.resolve("kubernetes/podmonitor.yaml")), "smqtt");
    }

    /** Without the operator: the same pods and port by relabelling, and a token, which every broker in Kubernetes wants. */
    @Test
    void prometheusInKubernetesFindsThePodsAndHasAToken() throws IOException {
        Map<String, Object> config =
                map(yaml(DEPLOY.resolve("prometheus/kubernetes.yml")).get(0));
        Map<String, Object> job = map(list(config.get("scrape_configs")).get(0));

        assertThat(text(job, "job_name")).isEqualTo("smqtt"); // what dashboards and rules ask for
        assertThat(text(job, "authorization", "credentials_file")).endsWith("/management-token");
        assertThat(text(map(list(job.get("relabel_configs")).get(0)), "regex")).isEqualTo("smqtt;management");
        for (Object rules : list(config.get("rule_files"))) {
            assertThat(DEPLOY.resolve("prometheus").resolve(rules.toString())).exists();
        }
    }

    /** Rendered by Helm where there is one. */
    @Test
    void theChartGivesTheSame() throws Exception {
        Path helm = Stream.of(System.getenv("PATH").split(":"))
                .map(folder -> Path.of(folder, "helm"))
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
        Path chart = DEPLOY.resolve("helm/smqtt").toRealPath();
        assertThat(map(yaml(chart.resolve("Chart.yaml")).get(0))).containsEntry("name", "smqtt");
        if (helm == null) {
            checkTemplates(chart);
            return;
        }
        assertThat(output(helm.toString(), "lint", "--strict", chart.toString()))
                .contains("0 chart(s) failed");
        List<String> template = List.of(
                helm.toString(),
                "template",
                "smqtt",
                "-n",
                "smqtt",
                "--kube-version",
                "1.30.0",
                chart.toString(),
                "--set",
                "podMonitor.enabled=true");
        String plain = output(template.toArray(String[]::new));
        checkManifests(plain, "smqtt");
        assertThat(occurrences(plain, "scheme: HTTP}")).isEqualTo(3);
        List<String> more = new ArrayList<>(template);
        more.addAll(List.of(
                "--set", "config.management.tls.certificate=server.crt,config.management.tls.key=server.key",
                "--set", "podMonitor.tlsConfig.serverName=broker,networkPolicy.extraEgress[0].ports[0].port=4318"));
        String tls = output(more.toArray(String[]::new));
        assertThat(occurrences(tls, "scheme: HTTPS}")).isEqualTo(3);
        assertThat(tls).contains("scheme: https\n", "serverName: broker", "- port: 4318");
    }

    /** With front pods all are scraped, and clients reach these pods only. By the text of the templates: Helm may be missing. */
    @Test
    void frontPodsAreScrapedAndStandBetweenClientsAndNodes() throws IOException {
        Path templates = DEPLOY.resolve("helm/smqtt/templates");
        assertThat(withFronts(templates.resolve("podmonitor.yaml")))
                .contains("key: app.kubernetes.io/name, operator: In, values: [smqtt, smqtt-front]")
                .doesNotContain("matchLabels");
        assertThat(withFronts(templates.resolve("networkpolicy.yaml")))
                .contains("{port: 7802}")
                .doesNotContain("{port: 1883}", "{port: 8083}");
        assertThat(Files.readString(templates.resolve("front.yaml"))).contains("{port: 1883}", "{port: 8083}");
    }

    /** A template without the parts that are for a chart without front pods. */
    private static String withFronts(Path template) throws IOException {
        String text = Files.readString(template);
        return text.replaceAll("(?s)\\{\\{- if not \\.Values\\.front\\.enabled }}.*?\\{\\{- end }}", "")
                .replaceAll("(?s)(\\{\\{- if \\.Values\\.front\\.enabled }}.*?)\\{\\{- else }}.*?\\{\\{- end }}", "$1");
    }

    private String output(String... command) throws Exception {
        Path file = directory.resolve("output");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(file.toFile())
                .start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(Files.readString(file)).isZero();
        return Files.readString(file);
    }

    /** Without Helm: the values are YAML, what the templates ask for is among them, and blocks are closed. */
    private static void checkTemplates(Path chart) throws IOException {
        Map<String, Object> values = map(yaml(chart.resolve("values.yaml")).get(0));
        Pattern value = Pattern.compile("\\.Values((?:\\.[A-Za-z]+)+)");
        Set<String> asked = new TreeSet<>();
        try (Stream<Path> templates = Files.list(chart.resolve("templates"))) {
            for (Path template : templates.toList()) {
                String text = Files.readString(template);
                Matcher matcher = value.matcher(text);
                while (matcher.find()) {
                    asked.add(matcher.group(1).substring(1));
                }
                assertThat(occurrences(text, "\\{\\{-? *(if|with|range|define)\\b"))
                        .as(template.toString())
                        .isEqualTo(occurrences(text, "\\{\\{-? *end\\b"));
            }
        }
        // Probes and monitor ask by what the port speaks.
        String scheme = "scheme: {{ include \"smqtt.scheme\" . ";
        assertThat(Files.readString(chart.resolve("templates/statefulset.yaml")).split(Pattern.quote(scheme), -1))
                .hasSize(4);
        assertThat(Files.readString(chart.resolve("templates/podmonitor.yaml"))).contains(scheme + "| lower }}");
        assertThat(asked).contains("replicas", "networkPolicy.extraEgress").allSatisfy(path -> {
            Object at = values;
            for (String key : path.split("\\.")) {
                assertThat(map(at)).as(path).containsKey(key);
                at = map(at).get(key);
            }
        });
    }

    private static long occurrences(String text, String pattern) {
        return Pattern.compile(pattern).matcher(text).results().count();
    }

    private void checkManifests(String text, String name) throws IOException {
        Map<String, Map<String, Object>> byKind = new LinkedHashMap<>();
        for (Object document : documents(text)) {
            Map<String, Object> manifest = map(document);
            String suffix = text(manifest, "metadata", "name").substring(name.length());
            byKind.put(manifest.get("kind") + suffix, manifest);
        }
        assertThat(byKind)
                .containsOnlyKeys(
                        "ServiceAccount",
                        "ConfigMap",
                        "Service-nodes",
                        "Service",
                        "StatefulSet",
                        "PodDisruptionBudget",
                        "NetworkPolicy",
                        "PodMonitor");
        Map<String, Object> set = byKind.get("StatefulSet");
        Map<String, Object> pod = map(at(set, "spec", "template", "spec"));
        Map<String, Object> labels = map(at(set, "spec", "template", "metadata", "labels"));
        assertThat(labels).containsEntry(NAME_LABEL, "smqtt");
        for (Object selector : List.of(
                at(set, "spec", "selector", "matchLabels"),
                at(byKind.get("Service"), "spec", "selector"),
                at(byKind.get("Service-nodes"), "spec", "selector"),
                at(byKind.get("PodDisruptionBudget"), "spec", "selector", "matchLabels"),
                at(byKind.get("PodMonitor"), "spec", "selector", "matchLabels"),
                at(byKind.get("NetworkPolicy"), "spec", "podSelector", "matchLabels"))) {
            assertThat(labels).containsAllEntriesOf(map(selector));
        }
        assertThat(text(set, "spec", "serviceName")).isEqualTo(name + "-nodes");
        assertThat(at(byKind.get("Service-nodes"), "spec", "publishNotReadyAddresses"))
                .isEqualTo(true);
        assertThat(text).doesNotContain("prometheus.io/"); // who follows them has no token
        checkPod(pod, set, byKind);
    }

    private void checkPod(Map<String, Object> pod, Map<String, Object> set, Map<String, Map<String, Object>> byKind)
            throws IOException {
        Map<String, Object> container = map(list(pod.get("containers")).get(0));
        Map<String, Object> environment = new HashMap<>();
        for (Object variable : list(container.get("env"))) {
            Object value = map(variable).getOrDefault("value", "smqtt-0");
            environment.put(text(map(variable), "name"), value.toString().replace("$(POD_IP)", "10.1.2.3"));
        }
        EffectiveConfig config = bind(text(byKind.get("ConfigMap"), "data", "smqtt.yaml"), environment);
        assertThat(config.broker().cluster().bind()).isEqualTo("10.1.2.3:7800");
        assertThat(config.broker().cluster().nodeId()).isEqualTo("smqtt-0");
        String namespace = text(set, "metadata", "namespace");
        assertThat(config.broker().cluster().seeds())
                .containsExactly(text(set, "spec", "serviceName") + "." + namespace + ".svc.cluster.local");

        int replicas = (Integer) at(set, "spec", "replicas");
        assertThat(config.broker().cluster().minMembers()).isEqualTo(replicas / 2 + 1);
        assertThat(config.broker().storage().replicas()).isEqualTo(3);
        assertThat(config.broker().cluster().replicaNodes())
                .hasSize(replicas)
                .containsEntry(
                        "smqtt-2",
                        "smqtt-2." + text(set, "spec", "serviceName") + "." + namespace + ".svc.cluster.local:7801");
        assertThat(text(set, "spec", "podManagementPolicy"))
                .isEqualTo("Parallel"); // or the first would wait for the second

        Map<String, Integer> ports = new HashMap<>();
        for (Object port : list(container.get("ports"))) {
            ports.put(text(map(port), "name"), (Integer) map(port).get("containerPort"));
        }
        assertThat(ports)
                .containsEntry("management", config.broker().management().port())
                .containsEntry("mqtt", config.broker().listeners().get("tcp").port())
                .containsEntry(
                        "websocket", config.broker().listeners().get("ws").port())
                .containsEntry("cluster", 7800)
                .containsEntry("replicas", 7801);
        for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
            assertThat(ports).containsKey(text(container, probe, "httpGet", "port"));
            assertThat(text(container, probe, "httpGet", "path")).matches("/health/(live|ready)");
        }
        checkScraping(byKind.get("PodMonitor"), pod, config, ports);
        Set<Integer> open = new TreeSet<>();
        for (Object rule : list(at(byKind.get("NetworkPolicy"), "spec", "ingress"))) {
            list(map(rule).get("ports"))
                    .forEach(port -> open.add((Integer) map(port).get("port")));
        }
        assertThat(open).containsExactlyInAnyOrderElementsOf(new TreeSet<>(ports.values()));
        for (Object port : list(at(byKind.get("Service-nodes"), "spec", "ports"))) {
            assertThat(ports)
                    .containsEntry(text(map(port), "name"), (Integer) map(port).get("port"));
        }
        for (int between : List.of(7800, 7801)) {
            assertThat(list(map(list(at(byKind.get("NetworkPolicy"), "spec", "egress"))
                                    .get(0))
                            .get("ports")))
                    .anyMatch(port -> map(port).get("port").equals(between));
        }
        long patience = (Integer) at(container, "startupProbe", "periodSeconds")
                * (long) (Integer) at(container, "startupProbe", "failureThreshold");
        assertThat(Duration.ofSeconds(patience)).isGreaterThan(Duration.ofMinutes(10)); // a start ends itself earlier
        Set<String> volumes = Stream.concat(
                        list(pod.get("volumes")).stream().map(volume -> text(map(volume), "name")),
                        list(at(set, "spec", "volumeClaimTemplates")).stream()
                                .map(claim -> text(map(claim), "metadata", "name")))
                .collect(Collectors.toSet());
        for (Object mount : list(container.get("volumeMounts"))) {
            assertThat(volumes).contains(text(map(mount), "name"));
        }
        assertThat(at(pod, "securityContext", "runAsNonRoot")).isEqualTo(true);
        int grace = (Integer) pod.get("terminationGracePeriodSeconds");
        int wait = Integer.parseInt(list(at(container, "lifecycle", "preStop", "exec", "command"))
                .get(1)
                .toString());
        assertThat(config.program().shutdownTimeout().toSeconds() + wait).isLessThan(grace);
    }

    /** The monitor asks the management port with the token that the broker reads from the same secret. */
    private static void checkScraping(
            Map<String, Object> monitor, Map<String, Object> pod, EffectiveConfig config, Map<String, Integer> ports) {
        Map<String, Object> endpoint =
                map(list(at(monitor, "spec", "podMetricsEndpoints")).get(0));
        assertThat(ports.get(text(endpoint, "port")))
                .isEqualTo(config.broker().management().port());
        assertThat(text(endpoint, "path")).isEqualTo("/metrics");
        assertThat(text(endpoint, "authorization", "type")).isEqualTo("Bearer");
        checkJob(list(endpoint.get("relabelings")));
        String key = text(endpoint, "authorization", "credentials", "key");
        assertThat(config.broker().management().tokenFile()).hasToString("/run/secrets/smqtt/" + key);
        assertThat(list(pod.get("volumes")))
                .filteredOn(volume -> map(volume).containsKey("secret"))
                .singleElement()
                .satisfies(volume -> assertThat(text(map(volume), "secret", "secretName"))
                        .isEqualTo(text(endpoint, "authorization", "credentials", "name")));
    }

    /** Alerts ask for the job smqtt; without a rule the operator would call it by the monitor's name and namespace. */
    private static void checkJob(List<Object> relabelings) {
        assertThat(relabelings).singleElement().satisfies(rule -> {
            assertThat(map(rule)).containsOnlyKeys("targetLabel", "replacement"); // by default it matches, and replaces
            assertThat(text(map(rule), "targetLabel")).isEqualTo("job");
            assertThat(text(map(rule), "replacement")).isEqualTo("smqtt");
        });
    }

    @Test
    void everySourceOfTargetsGivesThemTheJobThatAlertsAskFor() throws IOException {
        Matcher job = Pattern.compile("job=\"([^\"]*)\"")
                .matcher(Files.readString(DEPLOY.resolve("prometheus/smqtt-alerts.yml")));
        Set<String> asked = new TreeSet<>();
        while (job.find()) {
            asked.add(job.group(1));
        }
        assertThat(asked).containsExactly("smqtt");
        for (String file :
                List.of("prometheus/prometheus.yml", "prometheus/kubernetes.yml", "compose/prometheus.yml")) {
            Map<String, Object> config = map(yaml(DEPLOY.resolve(file)).get(0));
            assertThat(list(config.get("scrape_configs")))
                    .as(file)
                    .allSatisfy(
                            scrape -> assertThat(text(map(scrape), "job_name")).isEqualTo("smqtt"));
        }
        // The chart's monitor is a template, of which Helm may be missing to make YAML.
        String rendered = Files.readString(DEPLOY.resolve("helm/smqtt/templates/podmonitor.yaml"))
                .replaceAll("(?m)^\\{\\{-.*}}$", "")
                .replaceAll("\\{\\{[^}]*}}", "{}");
        Map<String, Object> monitor = map(documents(rendered).get(0));
        checkJob(list(
                map(list(at(monitor, "spec", "podMetricsEndpoints")).get(0)).get("relabelings")));
    }

    /** What {@code smqtt start} would run with; a secret's file is replaced by one that is there. */
    private EffectiveConfig bind(String yaml, Map<String, Object> environment) throws IOException {
        Path secret = Files.writeString(directory.resolve("secret"), "a-secret-of-32-characters-or-more");
        Path file = Files.writeString(directory.resolve("smqtt.yaml"), yaml);
        ConfigSchema schema = EffectiveConfig.schema();
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        YamlFile.read(file, file.toString(), values);
        Map<String, String> variables = new HashMap<>();
        environment.forEach(
                (name, value) -> variables.put(name, name.endsWith("_FILE") ? secret.toString() : value.toString()));
        EnvironmentKeys.read(variables, directory, schema, values);
        return EffectiveConfig.bind(schema, values);
    }

    private static List<Object> yaml(Path file) throws IOException {
        return documents(Files.readString(file));
    }

    private static List<Object> documents(String text) {
        List<Object> documents = new ArrayList<>();
        new Yaml(new SafeConstructor(new LoaderOptions())).loadAll(text).forEach(document -> {
            if (document != null) {
                documents.add(document);
            }
        });
        return documents;
    }

    private static Object at(Map<String, Object> from, String... path) {
        Object at = from;
        for (String key : path) {
            assertThat(map(at)).containsKey(key);
            at = map(at).get(key);
        }
        return at;
    }

    private static String text(Map<String, Object> from, String... path) {
        return at(from, path).toString();
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> map(Object value) {
        return value == null ? Map.of() : (Map<String, Object>) value;
    }

    @SuppressWarnings("unchecked")
    private static List<Object> list(Object value) {
        return value == null ? List.of() : (List<Object>) value;
    }

    private static List<String> strings(Object value) {
        return list(value).stream().map(Object::toString).toList();
    }
}
