-- Pictures are left out: the report is on text, and some lie on other machines.
function Image()
  return {}
end
