"""The files in deploy/ fit one another and osrag: names, ports, settings, probes, times."""

import re
from pathlib import Path

import yaml

from osrag.settings import Settings

DEPLOY = Path(__file__).parent.parent / "deploy"
DEFAULTS = Settings.model_fields


def compose() -> dict[str, dict]:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))


def kubernetes() -> dict[str, dict]:
    return {one["kind"]: one for one in yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text("utf-8"))}


def unknown(names: dict[str, str]) -> list[str]:
    return [name for name in names if name.removeprefix("OSRAG_").lower() not in DEFAULTS]


def test_nginx_knows_the_replicas_of_compose_and_is_believed_by_them():
    services, conf = compose()["services"], (DEPLOY / "nginx.conf").read_text("utf-8")
    apps = [name for name, one in services.items() if one["image"] == "osrag"]
    assert re.findall(r"^\s+server (\w+):7860", conf, re.M) == apps
    assert list(services["proxy"]["depends_on"]) == apps
    proxy = services["proxy"]["networks"]["default"]["ipv4_address"]
    assert {services[name]["environment"]["OSRAG_PROXIES"] for name in apps} == {proxy}
    addresses = {one["networks"]["default"].get("ipv4_address") for one in services.values() if "networks" in one}
    assert len(addresses - {None}) == 1 + len(apps)


def test_each_model_server_is_found_by_the_name_that_the_replicas_use():
    services = compose()["services"]
    app = services["app1"]["environment"]
    for name in ("model-cpu", "model-gpu"):
        one = services[name]
        assert one["networks"]["default"]["aliases"] == ["model"] and "--port 8000" in one["command"]
        assert app["OSRAG_ENDPOINT_URL"] == "http://model:8000/v1"
        assert app["OSRAG_ENDPOINT_MODEL"] in one["command"]


def test_images_of_others_are_of_one_version():
    images = {one["image"] for one in compose()["services"].values()} - {"osrag"}
    assert len(images) == 4 and all(re.fullmatch(r"[\w./-]+:[\w.-]*\d[\w.-]*", image) for image in images)


def test_settings_exist():
    assert unknown(compose()["services"]["app1"]["environment"]) == []
    assert unknown(kubernetes()["ConfigMap"]["data"]) == []
    assert unknown(dict.fromkeys(re.findall(r"OSRAG_\w+", (DEPLOY / "Dockerfile").read_text("utf-8")))) == []


def test_a_replica_has_the_time_to_end_its_answers():
    pod = kubernetes()["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    pause = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    stop_s = DEFAULTS["stop_s"].default
    assert pod["terminationGracePeriodSeconds"] > pause + stop_s
    assert int(compose()["services"]["app1"]["stop_grace_period"].removesuffix("s")) > stop_s


def test_probes_ask_the_paths_that_osrag_answers():
    (container,) = kubernetes()["Deployment"]["spec"]["template"]["spec"]["containers"]
    paths = {kind: container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "readiness", "liveness")}
    assert paths == {"startup": "/readyz", "readiness": "/readyz", "liveness": "/healthz"}
    (ports,) = (one["containerPort"] for one in container["ports"])
    assert ports == 7860
